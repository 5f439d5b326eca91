package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.LockException;
import dev.lukko.spi.GrantRequest;
import dev.lukko.time.Ticker;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProposalsTest {
  private static final List<String> A = List.of("a");

  private long wall = 1_000;
  private final Proposals proposals =
      new Proposals(
          new Ticker() {
            @Override
            public long nanoTime() {
              return 0;
            }

            @Override
            public long wallMicros() {
              return wall;
            }
          });

  @Test
  void isTheWallClockWhenNothingWasSeen() {
    assertThat(proposals.next(A, 0)).isEqualTo(1_000);
  }

  @Test
  void isOneAboveTheHighestSeenWhenTheClockIsBehind() {
    proposals.seen(A, 5_000);
    proposals.seen(A, 3_000);
    assertThat(proposals.next(A, 0)).isEqualTo(5_001);
    wall = 9_000;
    assertThat(proposals.next(A, 0)).isEqualTo(9_000);
    assertThat(proposals.next(A, 9_500)).as("above what other nodes have given").isEqualTo(9_501);
  }

  @Test
  void isAboveWhatWasSeenOfAnyOfSeveralNamesAndOfNoOther() {
    proposals.seen(A, 5_000);
    proposals.seen(List.of("b"), 7_000);
    assertThat(proposals.next(List.of("a", "b"), 0)).isEqualTo(7_001);
    assertThat(proposals.next(List.of("c"), 0)).isEqualTo(1_000);
  }

  @Test
  void isPositiveAndFarFromTheEndWhateverTheClockSays() {
    for (long strange : new long[] {0, -1, Long.MIN_VALUE, 1L << 52, 1L << 53, Long.MAX_VALUE}) {
      wall = strange;
      assertThat(proposals.next(A, 0)).isEqualTo(1);
    }
  }

  @Test
  void endsWithAnErrorAtTheLastNumber() {
    proposals.seen(A, GrantRequest.MAX_COUNTER - 1);
    assertThat(proposals.next(A, 0)).isEqualTo(GrantRequest.MAX_COUNTER);
    proposals.seen(A, GrantRequest.MAX_COUNTER);
    assertThatThrownBy(() -> proposals.next(A, 0))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("[a]")
        .hasMessageContaining("used up");
    assertThat(proposals.next(List.of("b"), 0)).isEqualTo(1_000);
  }

  @Test
  void remembersAFewThousandNamesAndNotMore() {
    proposals.seen(A, 5_000);
    for (int i = 0; i < 4_095; i++) {
      proposals.seen(List.of("r" + i), 5_000);
    }
    assertThat(proposals.next(A, 0)).isEqualTo(5_001);
    for (int i = 0; i < 100_000; i++) {
      proposals.seen(List.of("s" + i), 5_000);
    }
    assertThat(proposals.next(A, 0)).isEqualTo(1_000);
  }
}
