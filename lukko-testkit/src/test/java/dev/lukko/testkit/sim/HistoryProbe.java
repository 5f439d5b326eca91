package dev.lukko.testkit.sim;

import java.util.function.LongUnaryOperator;
import java.util.function.UnaryOperator;

/**
 * Runs history after history until one fails. It is loaded together with a mutant of the engine, so
 * only types of the platform cross its border.
 */
public final class HistoryProbe implements LongUnaryOperator {
  private String check = "";
  private String what = "";

  /** A probe that has found nothing yet. */
  public HistoryProbe() {}

  /**
   * Runs at most so many histories.
   *
   * @return how many were run, the one that failed included; zero if none failed
   */
  @Override
  public long applyAsLong(long histories) {
    for (long seed = 1; seed <= histories; seed++) {
      Plan plan = Planner.plan(seed, 0.0045, UnaryOperator.identity());
      Violation violation = History.run(plan, false).violation();
      if (violation != null) {
        check = violation.check().name();
        what = violation.what();
        return seed;
      }
    }
    return 0;
  }

  /** The check that failed, and what it found. */
  @Override
  public String toString() {
    return check.isEmpty() ? "" : check + ": " + what;
  }
}
