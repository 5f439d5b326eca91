package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TallyTest {

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 2", "3, 2", "4, 3", "5, 3", "6, 4", "7, 4", "8, 5", "9, 5"})
  void quorumIsMoreThanHalf(int nodes, int quorum) {
    assertThat(Tally.quorumOf(nodes)).isEqualTo(quorum);
    assertThat(2 * quorum).isGreaterThan(nodes);
    assertThat(2 * (quorum - 1)).isLessThanOrEqualTo(nodes);
  }

  /** Against the definition: what every completion of the missing votes would come to. */
  @Test
  void decidedExactlyWhenEveryCompletionOfTheVotesAgrees() {
    for (int nodes = 1; nodes <= 7; nodes++) {
      for (int yes = 0; yes <= nodes; yes++) {
        for (int no = 0; yes + no <= nodes; no++) {
          for (int faults = 0; yes + no + faults <= nodes; faults++) {
            Tally tally = new Tally(nodes, yes, no, faults);
            int missing = nodes - yes - no - faults;
            boolean canWin = yes + missing > nodes / 2;
            boolean mustWin = yes > nodes / 2;
            assertThat(tally.won()).as("%s", tally).isEqualTo(mustWin);
            assertThat(tally.lost()).as("%s", tally).isEqualTo(!canWin);
            assertThat(tally.decided()).isEqualTo(mustWin || !canWin);
            assertThat(tally.won() && tally.lost()).isFalse();
            assertThat(tally.outstanding()).isEqualTo(missing);
            boolean properAnswersCanMakeAQuorum = nodes - faults > nodes / 2;
            assertThat(tally.unreachable()).isEqualTo(!properAnswersCanMakeAQuorum);
            boolean quorumCouldStillHold = nodes - no > nodes / 2;
            assertThat(tally.refuted()).isEqualTo(!quorumCouldStillHold);
          }
        }
      }
    }
  }

  /** While the set of nodes changes: what is decided is decided by both sets. */
  @Test
  void twoSetsWinTogetherAndEachCanLoseAlone() {
    List<Tally> all = tallies();
    for (Tally present : all) {
      assertThat(present.ofPresentSet()).isSameAs(present);
      assertThat(present.anyNo()).isEqualTo(present.no() > 0);
      assertThat(present.anyFault()).isEqualTo(present.faults() > 0);
      for (Tally next : all) {
        Tally both =
            new Tally(present.nodes(), present.yes(), present.no(), present.faults(), next);
        assertThat(both.ofPresentSet()).isEqualTo(present);
        assertThat(both.won()).as("%s", both).isEqualTo(present.won() && next.won());
        assertThat(both.lost()).as("%s", both).isEqualTo(present.lost() || next.lost());
        assertThat(both.decided()).as("%s", both).isEqualTo(both.won() || both.lost());
        assertThat(both.unreachable())
            .as("%s", both)
            .isEqualTo(present.unreachable() || next.unreachable());
        assertThat(both.refuted()).as("%s", both).isEqualTo(present.refuted() || next.refuted());
        assertThat(both.anyNo()).as("%s", both).isEqualTo(present.anyNo() || next.anyNo());
        assertThat(both.anyFault()).as("%s", both).isEqualTo(present.anyFault() || next.anyFault());
      }
    }
  }

  private static List<Tally> tallies() {
    List<Tally> all = new ArrayList<>();
    for (int nodes = 1; nodes <= 4; nodes++) {
      for (int yes = 0; yes <= nodes; yes++) {
        for (int no = 0; yes + no <= nodes; no++) {
          for (int faults = 0; yes + no + faults <= nodes; faults++) {
            all.add(new Tally(nodes, yes, no, faults));
          }
        }
      }
    }
    return all;
  }
}
