package dev.lukko.release;

import dev.lukko.spi.LockEntry;
import dev.lukko.time.Ticker;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The releases that are sent again, for as long as their outcome is open.
 *
 * <p>Kept is only the release of an entry that may be at the server, each once, in the order in
 * which they came; so there are never more of them than entries that can have been sent. A release
 * is over when the server has deleted the entry, or has answered behind everything that could
 * create it; see {@link OpenEntry#isGone}. Sending it again is harmless: it deletes only what its
 * own owner holds.
 *
 * <p>Whoever takes a release sends it, and reports what became of it; until then it is not given
 * another time. Not thread-safe.
 *
 * @param <R> the request
 */
public final class KeptReleases<R> {
  private final Ticker ticker;
  private final Map<LockEntry, PendingRelease<R>> kept = new LinkedHashMap<>();

  /** None is kept. */
  public KeptReleases(Ticker ticker) {
    this.ticker = ticker;
  }

  /** A release that is about to be sent for the first time, or cannot be sent now. */
  public PendingRelease<R> pending(R request, OpenEntry open) {
    return new PendingRelease<>(request, open, ticker.nanoTime());
  }

  /** Keeps one, unless the release of its entry is kept already. */
  public void keep(PendingRelease<R> release) {
    kept.putIfAbsent(release.open().entry(), release);
  }

  public boolean isEmpty() {
    return kept.isEmpty();
  }

  public int size() {
    return kept.size();
  }

  /** Gives all that are kept, in their order, and keeps them no longer. */
  public List<PendingRelease<R>> takeAll() {
    List<PendingRelease<R>> all = new ArrayList<>(kept.values());
    kept.clear();
    return all;
  }

  /** Gives what a new connection begins with, in its order; what is long over is dropped. */
  public List<PendingRelease<R>> takeForNewConnection() {
    long nowNanos = ticker.nanoTime();
    List<PendingRelease<R>> wanted = new ArrayList<>();
    for (PendingRelease<R> release : takeAll()) {
      if (release.open().isLongOver(nowNanos)) {
        release.open().close();
      } else {
        wanted.add(release);
      }
    }
    return wanted;
  }

  /** Gives those whose pause is over, in their order, and keeps them no longer. */
  public List<PendingRelease<R>> takeDue() {
    long nowNanos = ticker.nanoTime();
    List<PendingRelease<R>> due = new ArrayList<>();
    for (PendingRelease<R> release : kept.values()) {
      if (release.isDue(nowNanos)) {
        due.add(release);
      }
    }
    due.forEach(release -> kept.remove(release.open().entry()));
    return due;
  }

  /** One is about to be sent. */
  public void sending(PendingRelease<R> release) {
    release.sent(ticker.nanoTime());
  }

  /**
   * The server has answered; gives whether the release has to be kept.
   *
   * @param released whether the entry was found and deleted
   * @param connection the connection that the answer came on
   */
  public boolean isOpenAfterAnswer(PendingRelease<R> release, boolean released, Object connection) {
    if (release.open().isGone(released, connection)) {
      release.open().close();
      kept.remove(release.open().entry()); // kept meanwhile, after an earlier sending that failed
      return false;
    }
    release.answered(ticker.nanoTime());
    return isStillWanted(release, release.isLastAnswered());
  }

  /**
   * A release was not sent, or its outcome is not known; gives whether it has to be kept.
   *
   * @param answered whether the server has answered, with an error
   * @param connectionEnded whether the next connection can begin with it at once
   */
  public boolean isOpenAfterFault(
      PendingRelease<R> release, boolean answered, boolean connectionEnded) {
    long nowNanos = ticker.nanoTime();
    if (answered) {
      release.answered(nowNanos);
    }
    release.failed(nowNanos, connectionEnded);
    return isStillWanted(release, release.isPointless(nowNanos));
  }

  private static boolean isStillWanted(PendingRelease<?> release, boolean over) {
    if (over) {
      release.open().close();
    }
    return !over;
  }
}
