package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

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
}
