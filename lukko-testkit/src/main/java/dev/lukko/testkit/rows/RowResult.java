package dev.lukko.testkit.rows;

import dev.lukko.testkit.rows.FaultRows.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What came out of one row: a failure of one test fails it, and so does a test without an end. */
public final class RowResult {
  private final int number;
  private final Map<String, Integer> open = new TreeMap<>();
  private final Set<String> tests = new LinkedHashSet<>();
  private final List<String> seen = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private final Set<String> skips = new LinkedHashSet<>();
  private int passed;

  RowResult(int number) {
    this.number = number;
  }

  void add(Outcome outcome, String test, String detail) {
    switch (outcome) {
      case BEGUN -> open.merge(test, 1, Integer::sum);
      case SAW -> seen.add(detail);
      case PASSED -> {
        ended(test);
        passed++;
      }
      case FAILED -> {
        ended(test);
        failures.add(test + ": " + detail);
      }
      case SKIPPED -> {
        ended(test);
        skips.add(detail);
      }
    }
    if (!test.isEmpty()) {
      tests.add(test);
    }
  }

  private void ended(String test) {
    open.merge(test, -1, Integer::sum);
  }

  /** The verdict: {@code passed}, {@code failed}, {@code skipped} or {@code no test}. */
  public String verdict() {
    if (!failures.isEmpty() || open.values().stream().anyMatch(count -> count > 0)) {
      return "failed";
    }
    if (passed > 0) {
      return "passed";
    }
    return skips.isEmpty() ? "no test" : "skipped";
  }

  /** Whether the row keeps the run from being a success. */
  public boolean isBad() {
    return verdict().equals("failed") || verdict().equals("no test");
  }

  /** One line: the number, the verdict, what was seen or why it failed, and the tests. */
  public String describe() {
    List<String> parts = new ArrayList<>();
    parts.addAll(failures);
    open.forEach(
        (test, count) -> {
          if (count > 0) {
            parts.add(test + " did not come to an end");
          }
        });
    skips.forEach(skip -> parts.add(passed > 0 ? "skipped in part: " + skip : skip));
    if (failures.isEmpty()) {
      parts.addAll(seen);
    }
    return "row "
        + number
        + ": "
        + verdict()
        + (parts.isEmpty() ? "" : ", " + String.join("; ", parts))
        + (tests.isEmpty() ? "" : " [" + String.join(", ", tests) + "]");
  }
}
