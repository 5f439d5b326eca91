package dev.lukko.cli;

import dev.lukko.Holder;
import dev.lukko.cli.Survey.Acquisition;
import dev.lukko.cli.Survey.Answer;
import dev.lukko.spi.Inspection;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Collectors;

/** The survey of a lock as text for people. */
final class StatusText {

  private StatusText() {}

  static void print(Survey survey, Instant now, PrintWriter out) {
    out.println(survey.resource() + ": " + summary(survey));
    for (Acquisition held : survey.acquisitions()) {
      boolean holds = held.votes() >= survey.quorum();
      out.println();
      out.println(
          (holds ? "holder     " : "entry of   ")
              + held.holder().description()
              + " ("
              + held.votes()
              + " of "
              + survey.answers().size()
              + " nodes)");
      held.holder().since().ifPresent(since -> out.println("since      " + ago(since, now)));
      if (holds) {
        out.println("remaining  " + held.remaining().map(Durations::show).orElse("no expiry"));
        out.println(
            "token      "
                + (held.token().isPresent()
                    ? held.token().getAsLong()
                    : "no quorum agrees on one"));
      }
    }
    out.println();
    int width =
        survey.answers().stream().mapToInt(answer -> answer.node().length()).max().orElse(0);
    for (Answer answer : survey.answers()) {
      out.println(
          "node       "
              + answer.node()
              + " ".repeat(width - answer.node().length())
              + "  "
              + detail(answer));
    }
  }

  /** One clause on the lock as a whole. */
  static String summary(Survey survey) {
    String answered = survey.answered() + " of " + survey.answers().size() + " nodes answered";
    return switch (survey.state()) {
      case HELD -> "held (" + answered + ")";
      case FREE -> "free (" + answered + ")";
      case MAYBE_HELD -> "perhaps held (" + answered + ", the others decide)";
      case UNKNOWN -> "unknown (" + answered + ", " + survey.quorum() + " needed)";
    };
  }

  /** What one node said, without the counter. */
  static String brief(Answer answer) {
    return answer.node()
        + ": "
        + answer.inspection().map(StatusText::entries).orElse(answer.error())
        + standing(answer);
  }

  private static String detail(Answer answer) {
    return answer.inspection().map(StatusText::detail).orElse("no answer: " + answer.error())
        + standing(answer);
  }

  private static String standing(Answer answer) {
    return answer.standing().isEmpty() ? "" : "; " + answer.standing();
  }

  private static String detail(Inspection inspection) {
    return entries(inspection)
        + (inspection.counter().isPresent() ? ", counter " + inspection.counter().getAsLong() : "");
  }

  private static String entries(Inspection inspection) {
    return inspection.holders().isEmpty()
        ? "free"
        : inspection.holders().stream()
            .map(Holder::remaining)
            .map(StatusText::held)
            .collect(Collectors.joining(", "));
  }

  private static String held(Optional<Duration> remaining) {
    return "held, " + remaining.map(left -> Durations.show(left) + " left").orElse("no expiry");
  }

  private static String ago(Instant since, Instant now) {
    Duration ago = Duration.between(since, now);
    return since
        + " ("
        + (ago.isNegative() ? "by a clock ahead of ours" : Durations.show(ago) + " ago")
        + ")";
  }
}
