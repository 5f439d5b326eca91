package dev.lukko.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Holder;
import dev.lukko.NodeAnswer;
import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.OwnerValue;
import dev.lukko.spi.Unknown;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * What comes from a store, a server or another process cannot act on a terminal or forge a line.
 */
class PrintableTest {
  private static final String EVIL =
      "\u001b]0;owned\u0007\nlukko: job is free\r\u202e\u2028\u0085\ud800 \ud83d\ude00 \u00e4";
  private static final String SHOWN =
      "\\u001b]0;owned\\u0007\\nlukko: job is free\\u000d\\u202e\\u2028\\u0085\\ud800 \ud83d\ude00 \u00e4";

  @Test
  void eachTypeByWhichForeignTextReachesCallersMakesItPrintable() {
    assertThat(new Holder(EVIL, Optional.empty(), Optional.empty()).toString()).isEqualTo(SHOWN);
    assertThat(new NodeAnswer("n", NodeAnswer.Kind.FAILED, EVIL).toString()).endsWith(SHOWN);
    assertThat(new Failed(EVIL).detail()).isEqualTo(SHOWN);
    assertThat(new Unknown(EVIL).detail()).isEqualTo(SHOWN);
    NodeStatus status =
        new NodeStatus(
            NodeStatus.State.UNFIT, Optional.of(EVIL), EVIL, Duration.ZERO, List.of(EVIL));
    assertThat(status.detail()).isEqualTo(SHOWN);
    assertThat(status.warnings()).containsExactly(SHOWN);
    assertThat(status.identity()).contains(SHOWN);
  }

  @Test
  void ownerValueOfAnotherProcessIsShownOnOneLine() {
    String random = "q0aGm0T0Zk3mXx2nV4t0b1Yw9eU";
    String owner = random + " 2026-01-31T12:00:00.123Z " + EVIL;
    assertThat(OwnerValue.describe(owner, null).description()).isEqualTo(SHOWN);
    assertThat(OwnerValue.describe("\n\u001b[2J", null).description())
        .isEqualTo("a foreign owner '\\n\\u001b[2J'");
  }

  @Test
  void textWithoutEndIsCut() {
    assertThat(new Failed("x".repeat(1_000_000)).detail()).hasSize(2_003).endsWith("...");
    assertThat(new Failed("\u0000".repeat(1_000_000)).detail()).hasSizeLessThan(2_020);
  }
}
