package dev.lukko.schedule;

import dev.lukko.text.Printable;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One run in the history of a job.
 *
 * @param job the job
 * @param tick the scheduled instant that it was for
 * @param fencingToken the token of the lease under which it ran; no two runs of a job share one
 * @param runner which replica ran it
 * @param startedAt when it began, by the store's clock
 * @param finishedAt when it ended; empty while it runs, and for ever if its replica died
 * @param outcome how it ended
 * @param error why it failed, if it did
 */
public record JobRun(
    String job,
    Instant tick,
    long fencingToken,
    String runner,
    Instant startedAt,
    Optional<Instant> finishedAt,
    Outcome outcome,
    Optional<String> error) {

  /** How a run stands. */
  public enum Outcome {
    /** It has begun, and nobody has said how it ended: it runs, or its replica died. */
    RUNNING,
    /** The body returned. */
    SUCCEEDED,
    /** The body threw. */
    FAILED,
    /** The lease was lost while the body ran. */
    LOST,
    /** The tick was too late to be run; the body was not called. */
    SKIPPED,
    /** Another run of the job began, under a higher token, before this one said how it ended. */
    ABANDONED;

    /** The outcome that a store has kept by its name; empty if what is kept there is none. */
    public static Optional<Outcome> named(@Nullable String name) {
      return Arrays.stream(values()).filter(each -> each.name().equals(name)).findAny();
    }
  }

  public JobRun {
    runner = Printable.of(runner);
    error = error.map(Printable::of);
  }

  /**
   * A text that every store takes, whatever is in it: at most so many characters, without zero
   * characters and halves of surrogate pairs.
   */
  public static String storable(String text, int maxLength) {
    StringBuilder clean = new StringBuilder();
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      if (clean.length() + Character.charCount(c) > maxLength) {
        break;
      }
      boolean half = c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;
      clean.appendCodePoint(c == 0 || half ? '?' : c);
    }
    return clean.toString();
  }

  JobRun ended(Outcome how, Optional<String> why, Instant when) {
    return new JobRun(job, tick, fencingToken, runner, startedAt, Optional.of(when), how, why);
  }
}
