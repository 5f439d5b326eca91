package dev.lukko.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Runs subjects in turn, in short slices of one run, so that whatever else the machine does hits
 * all of them alike; gives the median of the slices' medians, and ratios to the first subject.
 */
final class SideBySide {
  private static final int WARM_UP = 50_000;

  private final String title;
  private final List<Subject> subjects = new ArrayList<>();
  private final int slices;
  private final int operationsPerSlice;

  /** Something to be timed. */
  interface Operation {
    void run() throws Exception;
  }

  SideBySide(String title, int slices, int operationsPerSlice) {
    this.title = title;
    this.slices = slices;
    this.operationsPerSlice = operationsPerSlice;
  }

  SideBySide subject(String name, Operation operation) {
    subjects.add(new Subject(name, operation, new ArrayList<>()));
    return this;
  }

  /** Runs, and prints a table. */
  void run(PrintStream out) throws Exception {
    for (int done = 0; done < WARM_UP; done += operationsPerSlice) { // until it is compiled
      for (Subject subject : subjects) {
        slice(subject.operation, operationsPerSlice);
      }
    }
    for (int i = 0; i < slices; i++) {
      for (int k = 0; k < subjects.size(); k++) {
        Subject subject = subjects.get((i + k) % subjects.size());
        subject.medians.add(slice(subject.operation, operationsPerSlice));
      }
    }
    print(out);
  }

  private static long slice(Operation operation, int operations) throws Exception {
    long[] times = new long[operations];
    for (int i = 0; i < operations; i++) {
      long start = System.nanoTime();
      operation.run();
      times[i] = System.nanoTime() - start;
    }
    Arrays.sort(times);
    return times[operations / 2];
  }

  private void print(PrintStream out) {
    out.printf(Locale.ROOT, "%n%s%n", title);
    long first = subjects.get(0).median();
    for (Subject subject : subjects) {
      out.printf(
          Locale.ROOT,
          "  %-58s %9.1f us  x %.2f%n",
          subject.name,
          subject.median() / 1_000.0,
          (double) subject.median() / first);
    }
  }

  private record Subject(String name, Operation operation, List<Long> medians) {
    long median() {
      return medians.stream().sorted().toList().get(medians.size() / 2);
    }
  }
}
