package dev.lukko.spec;

import dev.lukko.spec.TlcResult.State;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A counterexample in words: one numbered step per action, with what is wrong at its end. */
final class Counterexample {
  private final List<State> trace;
  private final String invariant;

  private Counterexample(List<State> trace, String invariant) {
    this.trace = trace;
    this.invariant = invariant;
  }

  /** The counterexample of a run, as Markdown. */
  static String toMarkdown(TlcResult refuted) {
    return new Counterexample(refuted.trace(), refuted.violated().orElseThrow()).text();
  }

  private String text() {
    List<String> lines = new ArrayList<>();
    Map<String, Object> counters = map(trace.get(0), "counter");
    if (counters.values().stream().anyMatch(counter -> !counter.equals(0))) {
      lines.add("Counters to begin with: " + listed(counters) + ".");
      lines.add("");
    }
    for (int i = 1; i < trace.size(); i++) {
      lines.add(i + ". " + step(trace.get(i - 1), trace.get(i)));
    }
    lines.add("");
    lines.add("`" + invariant + "` is violated: " + verdict(trace.get(trace.size() - 1)));
    return String.join("\n", lines);
  }

  private String step(State before, State after) {
    return switch (after.action()) {
      case "Start" -> start(before, after);
      case "Grant" -> grant(before, after);
      case "Expire" -> expire(before, after);
      case "Decide" -> decide(before, after);
      case "Confirm" -> confirm(before, after);
      case "AskAgain" -> askAgain(before, after);
      case "Settle" -> settle(before, after);
      case "Repair" -> repair(before, after);
      case "Forget" -> forget(before, after);
      case "Rejoin" -> rejoin(before, after);
      default -> throw new IllegalStateException("no words for the action " + after.action());
    };
  }

  private static String start(State before, State after) {
    String round = changed(before, after, "phase");
    return round + " starts and proposes " + map(after, "proposal").get(round) + ".";
  }

  private static String grant(State before, State after) {
    String node = changed(before, after, "holder");
    Object round = map(after, "holder").get(node);
    boolean late = !"asking".equals(map(before, "phase").get(round));
    return "%s grants %s%s, numbered %s."
        .formatted(
            node, round, late ? ", whose request comes late" : "", map(after, "counter").get(node));
  }

  private static String expire(State before, State after) {
    String node = changed(before, after, "holder");
    return "The entry of " + map(before, "holder").get(node) + " on " + node + " is gone.";
  }

  private static String decide(State before, State after) {
    String round = changed(before, after, "phase");
    Map<String, Object> grants = map(map(before, "reply").get(round));
    grants.values().removeIf(number -> number.equals(0));
    return round + " has the grants " + listed(grants) + " and " + next(round, after);
  }

  private static String confirm(State before, State after) {
    String round = changed(before, after, "open");
    Map<String, Object> wereOpen = map(map(before, "open").get(round));
    Map<String, Object> areOpen = map(map(after, "open").get(round));
    String node = changed(wereOpen, areOpen);
    Set<Object> gone = new LinkedHashSet<>((Collection<?>) valueOf(wereOpen, node));
    gone.removeAll((Collection<?>) valueOf(areOpen, node));
    Object holder = map(after, "holder").get(node);
    return "%s confirms %s for %s%s; its counter was %s and is %s."
        .formatted(
            node,
            gone.iterator().next(),
            round,
            round.equals(holder)
                ? ""
                : ", though " + ("NoRound".equals(holder) ? "nobody" : holder) + " holds it",
            map(before, "counter").get(node),
            map(after, "counter").get(node));
  }

  private static String askAgain(State before, State after) {
    String round = changed(before, after, "asked");
    return "A node refuses %s with a higher counter; %s asks to confirm %s."
        .formatted(map(before, "asked").get(round), round, map(after, "asked").get(round));
  }

  private static String settle(State before, State after) {
    String round = changed(before, after, "phase");
    Object asked = map(before, "asked").get(round);
    List<String> nodes = new ArrayList<>();
    map(map(before, "open").get(round))
        .forEach(
            (node, open) -> {
              if (!((Collection<?>) open).contains(asked)) {
                nodes.add(node);
              }
            });
    return round
        + " has the confirmations of "
        + String.join(" and ", nodes)
        + " and "
        + next(round, after);
  }

  private static String next(String round, State after) {
    return "done".equals(map(after, "phase").get(round))
        ? "is complete: token **" + map(after, "token").get(round) + "**."
        : "asks to confirm " + map(after, "asked").get(round) + ".";
  }

  private static String repair(State before, State after) {
    String node = changed(before, after, "holder");
    return "An extension of %s puts its entry back on %s; the counter there was %s and is %s."
        .formatted(
            map(after, "holder").get(node),
            node,
            map(before, "counter").get(node),
            map(after, "counter").get(node));
  }

  private static String forget(State before, State after) {
    Set<Object> quarantined = new LinkedHashSet<>((Collection<?>) after.get("away"));
    quarantined.removeAll((Collection<?>) before.get("away"));
    // A node with no entry and no counter has nothing to lose, and then the shortest way avoids it.
    String node = changed(map(before, "counter"), map(after, "counter"));
    return node
        + " forgets its entry and its counter"
        + (quarantined.isEmpty() ? " and goes on voting." : " and is put in quarantine.");
  }

  private static String rejoin(State before, State after) {
    Set<Object> back = new LinkedHashSet<>((Collection<?>) before.get("away"));
    back.removeAll((Collection<?>) after.get("away"));
    return "The quarantine of " + back.iterator().next() + " ends.";
  }

  private String verdict(State last) {
    Map<String, Object> tokens = map(last, "token");
    return switch (invariant) {
      case "TokensUnique" -> {
        Map<Object, List<String>> rounds =
            tokens.keySet().stream().collect(Collectors.groupingBy(tokens::get));
        rounds.remove(0);
        yield rounds.entrySet().stream()
            .filter(entry -> entry.getValue().size() > 1)
            .map(
                entry ->
                    String.join(" and ", entry.getValue())
                        + " have the same token, "
                        + entry.getKey())
            .collect(Collectors.joining("; ", "", "."));
      }
      case "TokensOrdered" ->
          map(last, "floor").entrySet().stream()
              .filter(floor -> "done".equals(map(last, "phase").get(floor.getKey())))
              .filter(floor -> !floor.getValue().equals(0))
              .map(
                  floor ->
                      "token %s was complete before %s started, which has %s"
                          .formatted(floor.getValue(), floor.getKey(), tokens.get(floor.getKey())))
              .collect(Collectors.joining("; ", "", "."));
      case "NotOvertaken" ->
          map(last, "standing").entrySet().stream()
              .filter(standing -> !((Collection<?>) standing.getValue()).isEmpty())
              .filter(standing -> number(tokens, standing.getKey()) < highest(tokens))
              .map(
                  standing ->
                      "the entries of %s stand on %s, and its token %s was passed by %s"
                          .formatted(
                              standing.getKey(),
                              ((Collection<?>) standing.getValue())
                                  .stream().map(Object::toString).collect(Collectors.joining(", ")),
                              tokens.get(standing.getKey()),
                              highest(tokens)))
              .collect(Collectors.joining("; ", "", "."));
      default -> throw new IllegalStateException("no words for the invariant " + invariant);
    };
  }

  private static int highest(Map<String, Object> numbers) {
    return numbers.keySet().stream().mapToInt(key -> number(numbers, key)).max().orElseThrow();
  }

  private static int number(Map<String, Object> numbers, String key) {
    return (Integer) valueOf(numbers, key);
  }

  private static String listed(Map<String, Object> numbers) {
    return numbers.entrySet().stream()
        .map(entry -> entry.getKey() + " = " + entry.getValue())
        .collect(Collectors.joining(", "));
  }

  /** The one key at which a variable differs between two states. */
  private static String changed(State before, State after, String variable) {
    return changed(map(before, variable), map(after, variable));
  }

  private static String changed(Map<String, Object> before, Map<String, Object> after) {
    List<String> keys =
        after.keySet().stream().filter(key -> !after.get(key).equals(before.get(key))).toList();
    if (keys.size() != 1) {
      throw new IllegalStateException("expected one change between " + before + " and " + after);
    }
    return keys.get(0);
  }

  private static Map<String, Object> map(State state, String variable) {
    return map(state.get(variable));
  }

  /** A copy of a function's pairs. */
  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Object function) {
    return new TreeMap<>((Map<String, Object>) function);
  }

  private static Object valueOf(Map<String, Object> map, String key) {
    Object value = map.get(key);
    if (value == null) {
      throw new IllegalStateException(key + " is not in " + map);
    }
    return value;
  }
}
