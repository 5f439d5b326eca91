package dev.lukko.bench.soak;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the set really holds, against what the clients were told.
 *
 * @param inSet how many additions are in the set
 * @param unacknowledged how many of those nobody was told of
 * @param lost acknowledged additions that are not in the set
 * @param duplicated additions that are in the set more than once
 * @param problems sentences about everything else that must not be
 */
record Verdict(
    int inSet,
    int unacknowledged,
    List<String> lost,
    List<String> duplicated,
    List<String> problems) {

  /** A line of the set. */
  private record Line(String id, long token) {}

  /** Looks at all pages in their order. */
  static Verdict of(List<String> pages, Journal journal, boolean tokensCount) {
    List<Line> lines = new ArrayList<>();
    for (String page : pages) {
      for (String line : page.split("\n", -1)) {
        int at = line.indexOf('@');
        if (at > 0) {
          lines.add(new Line(line.substring(0, at), Long.parseLong(line.substring(at + 1))));
        }
      }
    }
    Map<String, Integer> times = new LinkedHashMap<>();
    lines.forEach(line -> times.merge(line.id, 1, Integer::sum));
    Map<String, Long> acknowledged = journal.acknowledged();
    List<String> lost =
        acknowledged.keySet().stream().filter(id -> !times.containsKey(id)).sorted().toList();
    List<String> duplicated =
        times.entrySet().stream().filter(e -> e.getValue() > 1).map(Map.Entry::getKey).toList();
    int unacknowledged =
        (int) times.keySet().stream().filter(id -> !acknowledged.containsKey(id)).count();
    List<String> problems = tokensCount ? tokens(lines, journal) : List.of();
    return new Verdict(lines.size(), unacknowledged, lost, duplicated, problems);
  }

  /** Tokens never fall along the set, and each is of one grant. */
  private static List<String> tokens(List<Line> lines, Journal journal) {
    List<String> problems = new ArrayList<>();
    for (long token : journal.tokensGrantedTwice()) {
      problems.add("token " + token + " was granted twice");
    }
    Map<Long, String> granted = journal.granted();
    Map<Long, String> writers = new HashMap<>();
    @Nullable Line before = null;
    for (Line line : lines) {
      if (before != null && line.token < before.token) {
        problems.add(line + " is behind " + before);
      }
      before = line;
      String writer = line.id.substring(0, line.id.indexOf('-'));
      String other = writers.putIfAbsent(line.token, writer);
      if (other != null && !other.equals(writer)) {
        problems.add("token " + line.token + " is in the set from " + other + " and " + writer);
      }
      if (!writer.equals(granted.get(line.token))) {
        problems.add(line + " has a token that was granted to " + granted.get(line.token));
      }
    }
    return problems;
  }
}
