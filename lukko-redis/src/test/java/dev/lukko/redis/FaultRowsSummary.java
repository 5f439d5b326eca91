package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.testkit.rows.FaultRows;
import dev.lukko.testkit.rows.RowResult;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The last step of the profile {@code faults}, not a test of its own: prints one line for each row
 * of the table, and fails if one failed or has no test. A skipped row is told and lets it pass.
 */
class FaultRowsSummary {

  @Test
  @Tag("fault-rows-summary")
  void everyRowHasATestAndNoneFailed() {
    List<RowResult> rows = FaultRows.results();
    Map<String, Integer> counts = new TreeMap<>();
    StringBuilder text = new StringBuilder("Fault scenarios, row by row:\n");
    for (RowResult row : rows) {
      text.append(row.describe()).append('\n');
      counts.merge(row.verdict(), 1, Integer::sum);
    }
    text.append(rows.size()).append(" rows: ").append(counts);
    System.out.println(text);
    assertThat(rows.stream().filter(RowResult::isBad).map(RowResult::describe))
        .as("rows that failed or have no test")
        .isEmpty();
  }
}
