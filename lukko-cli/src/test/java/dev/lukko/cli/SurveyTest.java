package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Holder;
import dev.lukko.cli.Survey.Answer;
import dev.lukko.cli.Survey.State;
import dev.lukko.spi.Inspection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class SurveyTest {

  @Test
  void aHolderWithAQuorumHolds() {
    Survey survey = survey(entry("a", 10, 7), entry("a", 10, 7), free());

    assertThat(survey.state()).isEqualTo(State.HELD);
    assertThat(survey.holders()).hasSize(1);
  }

  @Test
  void aSplitVoteHoldsNothing() {
    Survey survey = survey(entry("a", 10, 7), entry("b", 10, 8), free());

    assertThat(survey.state()).isEqualTo(State.FREE);
    assertThat(survey.holders()).isEmpty();
    assertThat(survey.acquisitions()).hasSize(2);
  }

  @Test
  void silentNodesMayHoldTheMissingVotes() {
    assertThat(survey(entry("a", 10, 7), free(), silent()).state()).isEqualTo(State.MAYBE_HELD);
    assertThat(survey(entry("a", 10, 7), free(), free(), silent(), free()).state())
        .isEqualTo(State.FREE);
  }

  @Test
  void tooFewAnswersSayNothing() {
    assertThat(survey(entry("a", 10, 7), silent(), silent()).state()).isEqualTo(State.UNKNOWN);
    assertThat(survey(silent()).hasQuorum()).isFalse();
  }

  @Test
  void theLockRemainsAsLongAsAQuorumOfItsEntries() {
    Survey survey =
        survey(entry("a", 10, 7), entry("a", 40, 7), entry("a", 20, 7), entry("a", 30, 7), free());

    assertThat(survey.holders().get(0).remaining()).contains(Duration.ofMillis(20));
  }

  @Test
  void entriesWithoutExpiryCountAsTheLongest() {
    Survey survey = survey(entry("a", -1, 7), entry("a", 40, 7), entry("a", 20, 7));

    assertThat(survey.holders().get(0).remaining()).contains(Duration.ofMillis(40));
    assertThat(survey(entry("a", -1, 7)).holders().get(0).remaining()).isEmpty();
  }

  @Test
  void theTokenIsTheCounterOnWhichAQuorumAgrees() {
    assertThat(
            survey(entry("a", 9, 7), entry("a", 9, 8), entry("a", 9, 7)).holders().get(0).token())
        .hasValue(7);
    assertThat(survey(entry("a", 9, 7), entry("a", 9, 8), free()).holders().get(0).token())
        .isEmpty();
  }

  @Test
  void sharedHoldersHoldSideBySide() {
    Answer both =
        new Answer(
            "n",
            Optional.of(
                new Inspection(
                    List.of(holder("a", 10), holder("b", 10)),
                    OptionalLong.of(7),
                    List.of("a", "b"))),
            "");

    assertThat(survey(both, both, free()).holders()).hasSize(2);
  }

  private static Survey survey(Answer... answers) {
    return new Survey("r", List.of(answers));
  }

  private static Answer entry(String owner, long remainingMillis, long counter) {
    return new Answer(
        "n",
        Optional.of(
            new Inspection(
                List.of(holder(owner, remainingMillis)), OptionalLong.of(counter), List.of(owner))),
        "");
  }

  private static Holder holder(String owner, long remainingMillis) {
    return new Holder(
        owner,
        Optional.empty(),
        remainingMillis < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(remainingMillis)));
  }

  private static Answer free() {
    return new Answer(
        "n", Optional.of(new Inspection(List.of(), OptionalLong.of(5), List.of())), "");
  }

  private static Answer silent() {
    return new Answer("n", Optional.empty(), "timeout");
  }
}
