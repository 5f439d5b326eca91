package dev.lukko.bench;

/** The benchmarks' entry: {@code ./lukko-bench [uncontended]}. */
public final class Benchmarks {
  private Benchmarks() {}

  /** Runs the named benchmarks, or all. */
  public static void main(String[] arguments) throws Exception {
    int slices = Integer.getInteger("slices", 30);
    UncontendedBench.run(System.out, slices, Integer.getInteger("operations", 500));
    System.exit(0);
  }
}
