package dev.lukko.mongodb;

import com.mongodb.MongoServerException;
import dev.lukko.release.KeptReleases;
import dev.lukko.release.OpenEntry;
import dev.lukko.release.PendingRelease;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sends the releases, and sends them again for as long as their outcome is open: one after the
 * other, and none behind one that has failed, since it would fare no better. Which and when, {@link
 * KeptReleases} decides.
 */
final class Releases {
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Scheduler scheduler;
  private final Function<LockEntry, CompletionStage<ReleaseReply>> sender;
  private final KeptReleases<LockEntry> kept;
  private boolean ticking;
  private boolean closed;

  Releases(
      Ticker ticker,
      Scheduler scheduler,
      Function<LockEntry, CompletionStage<ReleaseReply>> sender) {
    this.scheduler = scheduler;
    this.sender = sender;
    this.kept = new KeptReleases<>(ticker);
  }

  /** Sends one for the first time. */
  CompletionStage<ReleaseReply> send(LockEntry entry, @Nullable OpenEntry open) {
    if (open == null) {
      return sender.apply(entry); // Nothing of it can be there, but who knows whose it was.
    }
    PendingRelease<LockEntry> release;
    synchronized (this) {
      release = kept.pending(entry, open);
      kept.sending(release);
    }
    CompletionStage<ReleaseReply> reply = sender.apply(entry);
    return reply.thenApply(
        answer -> {
          answered(release, answer); // Whoever learns of a failure finds the release kept.
          return answer;
        });
  }

  private synchronized void answered(PendingRelease<LockEntry> release, ReleaseReply reply) {
    boolean open =
        reply instanceof NodeFault fault
            ? kept.isOpenAfterFault(release, fault.cause() instanceof MongoServerException, false)
            : kept.isOpenAfterAnswer(release, reply instanceof ReleaseReply.Released, this);
    if (open && !closed) {
      kept.keep(release);
      tickSoon();
    }
  }

  private void tickSoon() {
    if (!ticking && !closed) {
      ticking = true;
      scheduler.schedule(this::tick, TICK_NANOS);
    }
  }

  private void tick() {
    Queue<PendingRelease<LockEntry>> due;
    synchronized (this) {
      due = new ArrayDeque<>(kept.takeDue());
    }
    sendNext(due);
  }

  private void sendNext(Queue<PendingRelease<LockEntry>> due) {
    PendingRelease<LockEntry> next = due.poll();
    if (next == null) {
      synchronized (this) {
        ticking = false;
        if (!kept.isEmpty()) {
          tickSoon();
        }
      }
      return;
    }
    synchronized (this) {
      kept.sending(next);
    }
    sender
        .apply(next.request())
        .whenComplete(
            (reply, failure) -> {
              answered(next, reply);
              if (reply instanceof NodeFault) {
                synchronized (this) {
                  due.forEach(kept::keep);
                  due.clear();
                }
              }
              sendNext(due);
            });
  }

  synchronized int size() {
    return kept.size();
  }

  synchronized void close() {
    closed = true;
    var unused = kept.takeAll();
  }
}
