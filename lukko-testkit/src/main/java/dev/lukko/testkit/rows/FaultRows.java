package dev.lukko.testkit.rows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The records of one run of the profile {@code faults}: a file in the folder that the system
 * property {@value #DIRECTORY} names, to which each test process appends. Without the property
 * nothing is written.
 */
public final class FaultRows {
  /** How many rows the table has. */
  public static final int COUNT = 44;

  /** The system property that names the folder of the records. */
  public static final String DIRECTORY = "lukko.faultRows";

  /** What is known of a test. */
  enum Outcome {
    BEGUN,
    SAW,
    PASSED,
    FAILED,
    SKIPPED
  }

  private FaultRows() {}

  /** Prints what a row did and saw, and keeps it for the summary. */
  public static void saw(int row, String what) {
    System.out.println("row " + row + ": " + what);
    record(row, Outcome.SAW, "", what);
  }

  static synchronized void record(int row, Outcome outcome, String test, @Nullable String detail) {
    if (row < 1 || row > COUNT) {
      throw new IllegalArgumentException("row " + row + " must be from 1 to " + COUNT);
    }
    String directory = System.getProperty(DIRECTORY, "");
    if (directory.isEmpty()) {
      return;
    }
    String text = detail == null ? "" : detail.replaceAll("\\s+", " ");
    try {
      Files.createDirectories(Path.of(directory));
      Files.writeString(
          file(directory),
          row + "\t" + outcome + "\t" + test + "\t" + text + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads the records of this run.
   *
   * @return one row per number, in order; those without any record as well
   * @throws IllegalStateException if the property is not set
   */
  public static List<RowResult> results() {
    String directory = System.getProperty(DIRECTORY, "");
    if (directory.isEmpty()) {
      throw new IllegalStateException("the system property " + DIRECTORY + " is not set");
    }
    try {
      Path file = file(directory);
      return results(Files.exists(file) ? Files.readAllLines(file) : List.of());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<RowResult> results(List<String> lines) {
    Map<Integer, RowResult> rows = new TreeMap<>();
    for (int row = 1; row <= COUNT; row++) {
      rows.put(row, new RowResult(row));
    }
    for (String line : lines) {
      String[] fields = line.split("\t", 4);
      RowResult row = rows.get(Integer.parseInt(fields[0]));
      if (row == null) {
        throw new IllegalStateException("a record of no row: " + line);
      }
      row.add(Outcome.valueOf(fields[1].toUpperCase(Locale.ROOT)), fields[2], fields[3]);
    }
    return new ArrayList<>(rows.values());
  }

  private static Path file(String directory) {
    return Path.of(directory, "records.tsv");
  }
}
