package dev.lukko.scorecard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.scorecard.Finding.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A few short rows for Lukko: the card can tell an outcome that is expected from one that is not.
 */
class ScorecardTest {
  private static Card run(int number) throws InterruptedException {
    Card card = new Card(List.of(Rows.ALL.get(number - 1)), List.of(Library.LUKKO_1));
    try (Surroundings surroundings = new Surroundings(card.libraries(), System.out::println)) {
      card.run(surroundings, 1, System.out);
    }
    return card;
  }

  private static Verdict verdict(Card card) {
    return card.finding(card.rows().get(0), Library.LUKKO_1).verdict();
  }

  @Test
  void secondClientIsRefused() throws InterruptedException {
    assertThat(verdict(run(1))).isEqualTo(Verdict.HELD);
  }

  @Test
  void twoHoldersAreSeenWhenTheOnlyServerForgets() throws InterruptedException {
    Card card = run(11);

    assertThat(verdict(card)).isEqualTo(Verdict.BROKEN);
    assertThat(Page.of(card)).contains("| Lukko, 1 server | broken | 2 holders at once");
  }

  @Test
  void rowForSeveralServersIsNotAppliedToOne() throws InterruptedException {
    assertThat(verdict(run(3))).isEqualTo(Verdict.NOT_APPLICABLE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--rows      | 16   | --rows has '16'; it must have numbers from 1 to 15",
        "--libraries | zoo  | --libraries has 'zoo'; it must name some of lukko-1, lukko-5"
      })
  void badOptionIsRefusedWithFieldValueAndRule(String option, String value, String message) {
    ByteArrayOutputStream err = new ByteArrayOutputStream();

    int code =
        ScorecardCommand.execute(
            new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            option,
            value);

    assertThat(code).isEqualTo(64);
    assertThat(err.toString(StandardCharsets.UTF_8)).startsWith(message);
  }
}
