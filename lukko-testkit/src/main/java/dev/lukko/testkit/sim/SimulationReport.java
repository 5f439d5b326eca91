package dev.lukko.testkit.sim;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What a simulation came to.
 *
 * @param seed its seed
 * @param histories how many histories were run
 * @param grants how many leases were granted in them
 * @param simulated how much time passed in them, all together
 * @param elapsed how much time really passed
 * @param logHash a hash of everything that happened: two runs of one seed have the same
 * @param failure the first history that failed, if one did
 */
public record SimulationReport(
    long seed,
    long histories,
    long grants,
    Duration simulated,
    Duration elapsed,
    long logHash,
    Optional<Failure> failure) {

  /**
   * How many leases a history granted on average: a lock that is safe but never granted shows here.
   */
  public double grantsPerHistory() {
    return histories == 0 ? 0 : (double) grants / histories;
  }

  /** The figures on one line. */
  public String describe() {
    return String.format(
        Locale.ROOT,
        "%d histories from seed %d: %.2f grants each, %.1f simulated hours, %.1f s (%.0f a second), log %016x",
        histories,
        seed,
        grantsPerHistory(),
        simulated.toMillis() / 3_600_000.0,
        elapsed.toMillis() / 1_000.0,
        histories / Math.max(1e-9, elapsed.toNanos() / 1e9),
        logHash);
  }

  /**
   * Does nothing if no history failed.
   *
   * @throws AssertionError with the seed, the shortest steps and what happened otherwise
   */
  public void throwIfFailed() {
    if (failure.isPresent()) {
      throw new AssertionError(failure.get().describe());
    }
  }

  /**
   * A history that failed.
   *
   * @param seed its seed: a simulation of one history with this seed repeats it
   * @param after how many histories had been run before it
   * @param check what was not so
   * @param what what was found
   * @param steps the fewest operations and faults that still fail by the same check
   * @param events what happened in that shortest history
   */
  public record Failure(
      long seed, long after, Check check, String what, List<String> steps, List<String> events) {

    /** All of it, as text for people. */
    public String describe() {
      return check
          + ": "
          + check.broken()
          + "\n  "
          + what
          + "\n  again by seed "
          + seed
          + " and one history\n  steps:\n    "
          + String.join("\n    ", steps)
          + "\n  events:\n    "
          + String.join("\n    ", events);
    }
  }
}
