package dev.lukko.testkit.sim;

/** Chance from a seed: fast, and the same on every machine. */
final class Dice {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private long state;

  Dice(long seed) {
    state = seed;
  }

  static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  long next() {
    state += GOLDEN;
    return mix(state);
  }

  /** From 0 to bound - 1. */
  int below(int bound) {
    return (int) (((next() >>> 33) * bound) >>> 31);
  }

  /** From 0 (inclusive) to 1 (exclusive). */
  double unit() {
    return (next() >>> 11) * 0x1.0p-53;
  }

  /** From low (inclusive) to high (exclusive). */
  long between(long low, long high) {
    return low + (long) (unit() * (high - low));
  }

  boolean chance(int percent) {
    return below(100) < percent;
  }

  @SafeVarargs
  final <T> T pick(T... values) {
    return values[below(values.length)];
  }

  /** A separate source, so that the draws of one part do not move those of another. */
  Dice fork() {
    return new Dice(next());
  }
}
