package dev.lukko.scorecard;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** All findings, by row and library. */
final class Card {
  private final List<Row> rows;
  private final List<Library> libraries;
  private final Map<Row, Map<Library, Finding>> findings = new LinkedHashMap<>();

  Card(List<Row> rows, List<Library> libraries) {
    this.rows = rows;
    this.libraries = libraries;
  }

  /**
   * Runs every row for every library, each on servers and clients of its own.
   *
   * @param atATime how many libraries are looked at side by side; most of a row is waiting
   */
  void run(Surroundings surroundings, int atATime, PrintStream out) throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(atATime);
    try {
      for (Row row : rows) {
        out.printf("%n%2d  %s%n    expected: %s%n", row.number(), row.title(), row.expected());
        Map<Library, Future<Finding>> running = new LinkedHashMap<>();
        for (Library library : libraries) {
          running.put(library, threads.submit(() -> run(row, library, surroundings)));
        }
        Map<Library, Finding> perLibrary = new LinkedHashMap<>();
        findings.put(row, perLibrary);
        for (Library library : libraries) {
          Finding finding = Objects.requireNonNull(running.get(library)).get();
          perLibrary.put(library, finding);
          out.printf(
              Locale.ROOT,
              "    %-38s %-8s %s%n",
              library.title(),
              finding.verdict().words(),
              finding.fact());
        }
      }
    } catch (ExecutionException failure) {
      throw new IllegalStateException("a row could not be carried through", failure.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  private static Finding run(Row row, Library library, Surroundings surroundings)
      throws InterruptedException {
    Optional<String> missing = surroundings.missing(library);
    if (missing.isPresent()) {
      return Finding.notRun(missing.get());
    }
    try (Bed bed = new Bed(library, surroundings)) {
      return row.scenario().run(bed);
    }
  }

  List<Row> rows() {
    return rows;
  }

  List<Library> libraries() {
    return libraries;
  }

  Finding finding(Row row, Library library) {
    Map<Library, Finding> perLibrary = Objects.requireNonNull(findings.get(row));
    return Objects.requireNonNull(perLibrary.get(library));
  }

  /** For programs. */
  List<Map<String, Object>> toJson() {
    List<Map<String, Object>> json = new ArrayList<>();
    findings.forEach(
        (row, perLibrary) ->
            perLibrary.forEach(
                (library, finding) -> {
                  Map<String, Object> one = new LinkedHashMap<>();
                  one.put("row", row.number());
                  one.put("title", row.title());
                  one.put("expected", row.expected());
                  one.put("library", library.key());
                  one.put("version", Versions.of(library));
                  one.put("verdict", finding.verdict().words());
                  one.put("fact", finding.fact());
                  json.add(one);
                }));
    return json;
  }
}
