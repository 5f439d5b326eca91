package dev.lukko;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockReport.Entry;
import dev.lukko.LockReport.NodeEntries;
import dev.lukko.LockReport.State;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class LockReportTest {

  @Test
  void aHolderWithAQuorumHolds() {
    LockReport report = report(entry("a", 10, 7), entry("a", 10, 7), free());

    assertThat(report.state()).isEqualTo(State.HELD);
    assertThat(report.holders()).hasSize(1);
  }

  @Test
  void aSplitVoteHoldsNothing() {
    LockReport report = report(entry("a", 10, 7), entry("b", 10, 8), free());

    assertThat(report.state()).isEqualTo(State.FREE);
    assertThat(report.holders()).isEmpty();
    assertThat(report.acquisitions()).hasSize(2);
  }

  @Test
  void silentNodesMayHoldTheMissingVotes() {
    assertThat(report(entry("a", 10, 7), free(), silent()).state()).isEqualTo(State.MAYBE_HELD);
    assertThat(report(entry("a", 10, 7), free(), free(), silent(), free()).state())
        .isEqualTo(State.FREE);
  }

  @Test
  void tooFewNodeEntriessSayNothing() {
    assertThat(report(entry("a", 10, 7), silent(), silent()).state()).isEqualTo(State.UNKNOWN);
    assertThat(report(silent()).hasQuorum()).isFalse();
  }

  @Test
  void theLockRemainsAsLongAsAQuorumOfItsEntries() {
    LockReport report =
        report(entry("a", 10, 7), entry("a", 40, 7), entry("a", 20, 7), entry("a", 30, 7), free());

    assertThat(report.holders().get(0).remaining()).contains(Duration.ofMillis(20));
  }

  @Test
  void entriesWithoutExpiryCountAsTheLongest() {
    LockReport report = report(entry("a", -1, 7), entry("a", 40, 7), entry("a", 20, 7));

    assertThat(report.holders().get(0).remaining()).contains(Duration.ofMillis(40));
    assertThat(report(entry("a", -1, 7)).holders().get(0).remaining()).isEmpty();
  }

  @Test
  void theTokenIsTheCounterOnWhichAQuorumAgrees() {
    assertThat(
            report(entry("a", 9, 7), entry("a", 9, 8), entry("a", 9, 7))
                .holders()
                .get(0)
                .fencingToken())
        .hasValue(7);
    assertThat(report(entry("a", 9, 7), entry("a", 9, 8), free()).holders().get(0).fencingToken())
        .isEmpty();
  }

  @Test
  void sharedHoldersHoldSideBySide() {
    NodeEntries both =
        new NodeEntries(
            "n",
            true,
            List.of(new Entry(holder("a", 10), "a"), new Entry(holder("b", 10), "b")),
            OptionalLong.of(7),
            "");

    assertThat(report(both, both, free()).holders()).hasSize(2);
  }

  private static LockReport report(NodeEntries... answers) {
    return new LockReport("r", List.of(answers));
  }

  private static NodeEntries entry(String owner, long remainingMillis, long counter) {
    return new NodeEntries(
        "n",
        true,
        List.of(new Entry(holder(owner, remainingMillis), owner)),
        OptionalLong.of(counter),
        "");
  }

  private static Holder holder(String owner, long remainingMillis) {
    return new Holder(
        owner,
        Optional.empty(),
        remainingMillis < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(remainingMillis)));
  }

  private static NodeEntries free() {
    return new NodeEntries("n", true, List.of(), OptionalLong.of(5), "");
  }

  private static NodeEntries silent() {
    return NodeEntries.silent("n", "timeout");
  }
}
