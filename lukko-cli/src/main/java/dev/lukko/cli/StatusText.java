package dev.lukko.cli;

import dev.lukko.LockReport;
import dev.lukko.LockReport.Acquisition;
import dev.lukko.LockReport.NodeEntries;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Collectors;

/** The report on a lock as human-readable text. */
final class StatusText {

  private StatusText() {}

  static void print(LockReport report, Instant now, PrintWriter out) {
    out.println(report.resource() + ": " + summary(report));
    for (Acquisition held : report.acquisitions()) {
      boolean holds = held.votes() >= report.quorum();
      out.println();
      out.println(
          (holds ? "holder     " : "entry of   ")
              + held.holder().description()
              + " ("
              + held.votes()
              + " of "
              + report.nodes().size()
              + " nodes)");
      held.holder().since().ifPresent(since -> out.println("since      " + ago(since, now)));
      if (holds) {
        out.println("remaining  " + held.remaining().map(Durations::show).orElse("no expiry"));
        out.println(
            "token      "
                + (held.fencingToken().isPresent()
                    ? held.fencingToken().getAsLong()
                    : "no quorum agrees on one"));
      }
    }
    out.println();
    int width = report.nodes().stream().mapToInt(node -> node.node().length()).max().orElse(0);
    for (NodeEntries node : report.nodes()) {
      out.println(
          "node       "
              + node.node()
              + " ".repeat(width - node.node().length())
              + "  "
              + detail(node));
    }
  }

  /** One clause on the lock as a whole. */
  static String summary(LockReport report) {
    String answered = report.answered() + " of " + report.nodes().size() + " nodes answered";
    return switch (report.state()) {
      case HELD -> "held (" + answered + ")";
      case FREE -> "free (" + answered + ")";
      case MAYBE_HELD -> "perhaps held (" + answered + ", the others decide)";
      case UNKNOWN -> "unknown (" + answered + ", " + report.quorum() + " needed)";
    };
  }

  /** What one node answered, without the counter. */
  static String brief(NodeEntries node) {
    return node.node() + ": " + (node.answered() ? entries(node) + standing(node) : node.detail());
  }

  private static String detail(NodeEntries node) {
    return node.answered()
        ? entries(node)
            + (node.counter().isPresent() ? ", counter " + node.counter().getAsLong() : "")
            + standing(node)
        : "no answer: " + node.detail();
  }

  private static String standing(NodeEntries node) {
    return node.detail().isEmpty() ? "" : "; " + node.detail();
  }

  private static String entries(NodeEntries node) {
    return node.entries().isEmpty()
        ? "free"
        : node.entries().stream()
            .map(entry -> held(entry.holder().remaining()))
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
