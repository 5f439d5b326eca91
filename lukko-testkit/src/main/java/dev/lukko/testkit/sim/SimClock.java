package dev.lukko.testkit.sim;

import dev.lukko.time.Ticker;

/** A clock of one machine: it has a rate of its own, and can be moved. */
final class SimClock implements Ticker {
  private static final long START_MICROS = 1_767_225_600_000_000L;

  private final World world;
  private final double skew;
  private long offsetNanos;
  private long wallOffsetMicros;

  /**
   * A clock.
   *
   * @param skew by how much it is too fast, as a fraction; negative if it is too slow
   */
  SimClock(World world, double skew, long offsetNanos, long wallOffsetMicros) {
    this.world = world;
    this.skew = skew;
    this.offsetNanos = offsetNanos;
    this.wallOffsetMicros = wallOffsetMicros;
  }

  private long elapsed() {
    return elapsed(world.now());
  }

  private long elapsed(long now) {
    return now + (long) (now * skew);
  }

  @Override
  public long nanoTime() {
    return offsetNanos + elapsed();
  }

  @Override
  public long wallMicros() {
    return START_MICROS + wallOffsetMicros + elapsed() / 1_000;
  }

  /** How long it really takes until this clock has moved on by so much. */
  long toTrueNanos(long clockNanos) {
    return (long) Math.ceil(clockNanos / (1 + skew));
  }

  /** Moves the monotonic side, as when the clock of a node was set. */
  void jump(long nanos) {
    offsetNanos += nanos;
  }

  /** Stands still from now on for a time, while the wall clock goes on. */
  void freeze(long trueNanos) {
    offsetNanos -= elapsed(world.now() + trueNanos) - elapsed();
  }

  void jumpWall(long micros) {
    wallOffsetMicros += micros;
  }
}
