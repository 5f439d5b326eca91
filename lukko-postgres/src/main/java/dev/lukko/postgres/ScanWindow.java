package dev.lukko.postgres;

import java.sql.Timestamp;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where a search for rows begins.
 *
 * <p>Finished rows stay in the table and in its index until vacuum may remove them, which an old
 * snapshot anywhere in the database prevents; a search from the start then steps over all of them,
 * each time. So after a search that took long, the next ones begin where that one found its first
 * row. Rows before that (overtakers of high priority, rows given back by a crash) wait for the next
 * search from the start: it comes when ten times the duration of the slow one has passed, so that
 * at most a tenth of the time goes into stepping over the dead. While searches are quick, all of
 * them begin at the start. Thread-safe.
 */
final class ScanWindow {
  static final String START = "-infinity";
  private static final int COST_RATIO = 10;

  private final long slowNanos;
  private final LongSupplier nanos;
  private @Nullable Timestamp lowest; // These three are guarded by this.
  private long setAt;
  private long fullAgainAt;

  ScanWindow(long slowNanos, LongSupplier nanos) {
    this.slowNanos = slowNanos;
    this.nanos = nanos;
  }

  /** The time by the clock of all that follows. */
  long now() {
    return nanos.getAsLong();
  }

  /** The rank from which to search. */
  synchronized String from(long now) {
    Timestamp low = lowest;
    if (low == null || now - fullAgainAt >= 0) {
      lowest = null;
      return START;
    }
    return low.toInstant().toString();
  }

  /** Takes note of a search: from where, how long, and the lowest rank that it found. */
  synchronized void searched(
      String from, long startedAt, long finishedAt, @Nullable Timestamp first) {
    if (first == null) {
      return;
    }
    long took = finishedAt - startedAt;
    if (!START.equals(from)) {
      // What was finished since the slow search is dead now too. A search that began before that
      // one ended says nothing about the rows that it found.
      if (lowest != null && startedAt - setAt >= 0 && first.after(lowest)) {
        lowest = first;
      }
    } else if (took >= slowNanos) {
      lowest = first;
      setAt = finishedAt;
      fullAgainAt = finishedAt + took * COST_RATIO;
    }
  }
}
