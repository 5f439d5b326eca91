package dev.lukko.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The count sees each thing that must not be. */
class VerdictTest {
  private final Journal journal = new Journal();

  private void hears(String client, Said said, Object... details) {
    journal.heard(client, said.line(details).strip());
  }

  private Verdict of(String... pages) {
    return Verdict.of(List.of(pages), journal, true);
  }

  @Test
  void additionThatIsThereOnceIsFine() {
    hears("a", Said.GRANTED, 1);
    hears("a", Said.ADDED, "a-0", 1);

    Verdict verdict = of("\na-0@1");

    assertThat(verdict).isEqualTo(new Verdict(1, 0, List.of(), List.of(), List.of()));
  }

  @Test
  void acknowledgedAdditionThatIsMissingIsLost() {
    hears("a", Said.GRANTED, 1);
    hears("a", Said.ADDED, "a-0", 1);

    assertThat(of("").lost()).containsExactly("a-0");
  }

  @Test
  void additionThatIsThereTwiceIsDuplicatedThoughNobodyWasTold() {
    hears("a", Said.GRANTED, 1);

    Verdict verdict = of("\na-0@1", "\na-0@1");

    assertThat(verdict.duplicated()).containsExactly("a-0");
    assertThat(verdict.unacknowledged()).isEqualTo(1);
  }

  @Test
  void fallingTokenIsAProblem() {
    hears("a", Said.GRANTED, 1);
    hears("b", Said.GRANTED, 2);

    assertThat(of("\nb-0@2\na-0@1").problems()).singleElement().asString().contains("is behind");
  }

  @Test
  void tokenGrantedTwiceIsAProblem() {
    hears("a", Said.GRANTED, 1);
    hears("b", Said.GRANTED, 1);

    assertThat(of("").problems()).containsExactly("token 1 was granted twice");
  }

  @Test
  void tokenOfAnotherClientIsAProblem() {
    hears("a", Said.GRANTED, 1);

    assertThat(of("\nb-0@1").problems())
        .singleElement()
        .asString()
        .contains("has a token that was granted to a");
  }

  @Test
  void lineThatWasCutOffIsNotHeard() {
    journal.heard("a", "added a-1");

    assertThat(journal.acknowledgedCount()).isZero();
  }
}
