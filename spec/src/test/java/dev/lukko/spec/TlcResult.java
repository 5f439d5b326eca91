package dev.lukko.spec;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a run of TLC found.
 *
 * @param complete whether every state within the bound was searched and no invariant failed
 * @param violated the invariant that failed, if one did
 * @param generated how many states were computed, the same one counted each time
 * @param distinct how many different states there were, up to symmetry
 * @param depth the length of the longest shortest path, in states
 * @param trace the states of the counterexample, from the first to the bad one
 * @param took the wall time of the run
 * @param output what TLC printed
 */
record TlcResult(
    boolean complete,
    Optional<String> violated,
    long generated,
    long distinct,
    int depth,
    List<State> trace,
    Duration took,
    String output) {

  /** A state of a counterexample and the action that led to it, empty for the first one. */
  record State(String action, Map<String, Object> variables) {
    Object get(String variable) {
      Object value = variables.get(variable);
      if (value == null) {
        throw new IllegalStateException("the model has no variable " + variable);
      }
      return value;
    }
  }

  private static final Pattern VIOLATED = Pattern.compile("Error: Invariant (\\w+) is violated");
  private static final Pattern COUNTS =
      Pattern.compile(
          "^(\\d+) states generated, (\\d+) distinct states found, (\\d+) states left on queue",
          Pattern.MULTILINE);
  private static final Pattern DEPTH = Pattern.compile("graph search is (\\d+)\\.");
  private static final Pattern STATE =
      Pattern.compile("^State \\d+: <(.*?)>\n((?:.+\n)+)", Pattern.MULTILINE);
  private static final Pattern VARIABLE =
      Pattern.compile("^/\\\\ (\\w+) = (.*?)(?=\n/\\\\ |\\z)", Pattern.MULTILINE | Pattern.DOTALL);

  /** Reads TLC's output; output without a proper end is an error, never an empty result. */
  static TlcResult parse(String output, Duration took) {
    Matcher counts = COUNTS.matcher(output);
    Matcher depth = DEPTH.matcher(output);
    if (!counts.find() || !depth.find()) {
      throw new IllegalStateException("TLC did not get to its end:\n" + output);
    }
    Matcher violated = VIOLATED.matcher(output);
    Optional<String> invariant =
        violated.find() ? Optional.of(violated.group(1)) : Optional.empty();
    boolean complete =
        output.contains("Model checking completed. No error has been found.")
            && counts.group(3).equals("0");
    if (!complete && invariant.isEmpty()) {
      throw new IllegalStateException("TLC failed:\n" + output);
    }
    return new TlcResult(
        complete,
        invariant,
        Long.parseLong(counts.group(1)),
        Long.parseLong(counts.group(2)),
        Integer.parseInt(depth.group(1)),
        traceIn(output),
        took,
        output);
  }

  private static List<State> traceIn(String output) {
    List<State> trace = new ArrayList<>();
    Matcher states = STATE.matcher(output);
    while (states.find()) {
      Map<String, Object> variables = new LinkedHashMap<>();
      Matcher values = VARIABLE.matcher(states.group(2).strip());
      while (values.find()) {
        variables.put(values.group(1), TlaValue.parse(values.group(2)));
      }
      String action = trace.isEmpty() ? "" : states.group(1).replaceAll(" .*", "");
      trace.add(new State(action, variables));
    }
    return List.copyOf(trace);
  }

  /** The steps of the counterexample: its states without the first one. */
  int steps() {
    return trace.size() - 1;
  }

  String summary() {
    String verdict =
        violated.map(name -> name + " refuted in " + steps() + " steps").orElse("no violation");
    return "%s; %,d states generated, %,d distinct, depth %d, %.1f s"
        .formatted(verdict, generated, distinct, depth, took.toMillis() / 1000.0);
  }
}
