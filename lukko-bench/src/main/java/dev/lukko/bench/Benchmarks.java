package dev.lukko.bench;

import java.util.List;
import java.util.Set;

/**
 * The benchmarks' entry: {@code ./lukko-bench [uncontended] [hand-off]}; all of them by default.
 */
public final class Benchmarks {
  private Benchmarks() {}

  /** Runs the named benchmarks, or all. */
  public static void main(String[] arguments) throws Exception {
    Set<String> wanted =
        Set.copyOf(arguments.length == 0 ? List.of("uncontended", "hand-off") : List.of(arguments));
    if (wanted.contains("uncontended")) {
      UncontendedBench.run(
          System.out, Integer.getInteger("slices", 30), Integer.getInteger("operations", 500));
    }
    if (wanted.contains("hand-off")) {
      HandOffBench.run(
          System.out, Integer.getInteger("slices", 5), Integer.getInteger("seconds", 3));
    }
    System.exit(0);
  }
}
