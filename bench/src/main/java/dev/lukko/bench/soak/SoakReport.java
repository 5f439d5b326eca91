package dev.lukko.bench.soak;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What came of a run.
 *
 * @param plan what was to be done
 * @param took how long it took
 * @param faults how many of each kind were made
 * @param journal what the clients told
 * @param verdict what the set holds
 * @param livenessMillis how long after the end of all faults the lock was granted
 * @param problems sentences about everything that must not be, besides lost and duplicated
 */
record SoakReport(
    SoakPlan plan,
    Duration took,
    Map<FaultKind, Integer> faults,
    Journal journal,
    Verdict verdict,
    long livenessMillis,
    List<String> problems) {
  private static final int SHOWN = 5;

  boolean passed() {
    return problems.isEmpty() && verdict.lost().isEmpty() && verdict.duplicated().isEmpty();
  }

  private Map<String, Object> figures() {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("grants", journal.count(Said.GRANTED));
    figures.put("losses", journal.losses());
    figures.put("busy", journal.count(Said.BUSY));
    figures.put("withoutQuorum", journal.count(Said.UNAVAILABLE));
    figures.put("staleWritesRefused", journal.count(Said.REFUSED));
    figures.put("refusedWhileValid", journal.refusedWhileValid());
    figures.put("outcomeUnknown", journal.count(Said.UNKNOWN));
    figures.put("acknowledged", journal.acknowledgedCount());
    figures.put("inSet", verdict.inSet());
    figures.put("inSetUnacknowledged", verdict.unacknowledged());
    figures.put("lost", verdict.lost().size());
    figures.put("duplicated", verdict.duplicated().size());
    figures.put("grantAfterHealingMillis", livenessMillis);
    return figures;
  }

  /** For programs. */
  Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("seed", plan.seed());
    json.put("mode", plan.mode().words());
    json.put("clients", plan.clients());
    json.put("mayForget", plan.mayForget());
    json.put("seconds", took.toSeconds());
    json.putAll(figures());
    Map<String, Object> kinds = new LinkedHashMap<>();
    faults.forEach((kind, count) -> kinds.put(kind.words(), count));
    json.put("faults", kinds);
    json.put("lossesByReason", journal.lossesByReason());
    json.put("problems", problems);
    json.put("passed", passed());
    return json;
  }

  /** For people. */
  void print(PrintStream out) {
    out.printf(
        "%nSoak of %d s, seed %d: %d clients, %s%n",
        took.toSeconds(), plan.seed(), plan.clients(), plan.mode().words());
    row(out, "grants", journal.count(Said.GRANTED));
    row(out, "losses " + journal.lossesByReason(), journal.losses());
    row(out, "lock busy for the whole wait", journal.count(Said.BUSY));
    row(out, "no quorum", journal.count(Said.UNAVAILABLE));
    row(out, "stale writes refused", journal.count(Said.REFUSED));
    row(out, "  of these while the lease was valid", journal.refusedWhileValid());
    row(out, "additions of unknown outcome, tried again", journal.count(Said.UNKNOWN));
    row(out, "additions acknowledged", journal.acknowledgedCount());
    row(out, "additions in the set", verdict.inSet());
    row(out, "  of these not acknowledged", verdict.unacknowledged());
    row(out, "acknowledged and lost", verdict.lost().size());
    row(out, "duplicated", verdict.duplicated().size());
    row(out, "first grant after healing, in ms", livenessMillis);
    row(out, "faults", faults.values().stream().mapToInt(Integer::intValue).sum());
    faults.forEach((kind, count) -> row(out, "  " + kind.words(), count));
    for (String problem : firstOf(problems)) {
      out.println("  PROBLEM: " + problem);
    }
    for (String id : firstOf(verdict.lost())) {
      out.println("  LOST: " + id);
    }
    for (String id : firstOf(verdict.duplicated())) {
      out.println("  DUPLICATED: " + id);
    }
    out.println(passed() ? "passed" : "FAILED");
  }

  private static void row(PrintStream out, String name, long figure) {
    out.printf(Locale.ROOT, "  %-60s %8d%n", name, figure);
  }

  private static List<String> firstOf(List<String> all) {
    if (all.size() <= SHOWN) {
      return all;
    }
    List<String> first = new ArrayList<>(all.subList(0, SHOWN));
    first.add("... and " + (all.size() - SHOWN) + " more");
    return first;
  }
}
