package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TurnsTest {
  private static final double HARDLY_EVER = 0.99;

  @Test
  void aloneAsksAtOnce() {
    Turns turns = new Turns();
    assertThat(turns.toLetPass(0)).isZero();
    turns.ended(true);
    turns.others(0);
    assertThat(turns.toLetPass(0)).isZero();
  }

  @Test
  void afterWinningLetsEachOtherClientPass() {
    Turns turns = new Turns();
    turns.ended(true);
    turns.others(3);
    for (int expected : new int[] {3, 2, 1, 0}) {
      assertThat(turns.toLetPass(HARDLY_EVER)).isEqualTo(expected);
      turns.ended(false);
    }
    assertThat(turns.toLetPass(0)).as("its turn is overdue").isZero();
  }

  @Test
  void atItsTurnLetsOnePassNowAndThen() {
    Turns turns = new Turns();
    turns.others(1);
    turns.ended(false);
    assertThat(turns.toLetPass(HARDLY_EVER)).isZero();
    assertThat(turns.toLetPass(0.01)).isEqualTo(1);
  }

  /** Hints reach the clients in the order of their numbers, as they do from a server. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 16})
  void clientsThatRaceGetTheSameNumberOfTurnsThoughTheFirstAlwaysHearsOfItFirst(int clients) {
    Random random = new Random(1);
    List<Turns> all = new ArrayList<>();
    IntStream.range(0, clients).forEach(i -> all.add(new Turns()));
    int[] won = new int[clients];
    for (int round = 0; round < 1_000 * clients; round++) {
      int winner = 0;
      int least = Integer.MAX_VALUE;
      for (int i = 0; i < clients; i++) {
        int steps = all.get(i).toLetPass(random.nextDouble());
        if (steps < least) {
          least = steps;
          winner = i;
        }
      }
      won[winner]++;
      all.get(winner).others(clients - 1); // It is told when it releases.
      for (int i = 0; i < clients; i++) {
        all.get(i).ended(i == winner);
      }
    }
    int fewest = IntStream.of(won).min().orElseThrow();
    int most = IntStream.of(won).max().orElseThrow();
    assertThat((double) fewest / most).isGreaterThan(0.8);
  }
}
