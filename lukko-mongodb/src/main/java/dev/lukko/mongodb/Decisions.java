package dev.lukko.mongodb;

import dev.lukko.Holder;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a node answers to a request for an entry, given what is stored; null means that something
 * has to be written for it.
 */
final class Decisions {
  /**
   * So many readers of one resource fit into a document, whose limit is 16 MB, with room to spare.
   */
  static final int MAX_READERS = 5_000;

  private final LockEntry entry;
  private final List<LockDocument> documents;
  private final long nowMillis;

  /**
   * Decisions about one entry.
   *
   * @param documents those of its resources, in their order
   * @param nowMillis the server's clock, not after the documents were read
   */
  Decisions(LockEntry entry, List<LockDocument> documents, long nowMillis) {
    this.entry = entry;
    this.documents = documents;
    this.nowMillis = nowMillis;
  }

  @Nullable GrantReply grant() {
    long highest = highest();
    Holder other = other();
    if (other != null) {
      return new GrantReply.Refused(highest, other);
    }
    if (!isMine() && highest == GrantRequest.MAX_COUNTER && !isJoinable()) {
      return new Failed(
          "counter exhausted: it is at " + GrantRequest.MAX_COUNTER + " and cannot rise");
    }
    return isMine() ? null : tooManyReaders();
  }

  private @Nullable Failed tooManyReaders() {
    for (LockDocument document : documents) {
      if (entry.shared() && document.readers().size() >= MAX_READERS) {
        long living =
            document.readers().values().stream().filter(held -> held.isAliveAt(nowMillis)).count();
        if (living >= MAX_READERS) {
          return new Failed(
              "too many readers: \"" + document.name() + "\" has " + living + ", the most it can");
        }
      }
    }
    return null;
  }

  /** The number that all resources get with a grant. */
  long nextNumber(long proposal) {
    return isJoinable() ? highest() : Math.max(proposal, highest() + 1);
  }

  /** Whether a reader may have the highest counter's number, as other readers have. */
  private boolean isJoinable() {
    long highest = highest();
    return entry.shared()
        && highest > FleetRecord.floorOf(entry.seen())
        && documents.stream()
            .allMatch(document -> document.counter() < highest || document.isGivenToReader());
  }

  /**
   * For an exclusive owner no counter may be above the number; for a reader it must not be below
   * what its grant got.
   */
  @Nullable ConfirmReply confirm(long number) {
    long highest = highest();
    if (!isMine()) {
      return new ConfirmReply.NotHeld();
    }
    long lowest = entry.shared() ? ownNumber() : highest;
    return lowest > number ? new ConfirmReply.Higher(lowest) : null;
  }

  @Nullable ExtendReply extend() {
    Holder other = other();
    if (other != null) {
      return new ExtendReply.HeldByOther(other);
    }
    return isMine() ? null : new ExtendReply.Missing(nowMillis);
  }

  @Nullable ExtendReply repair(long lastMillis) {
    if (nowMillis > lastMillis) {
      return new ExtendReply.Missing(nowMillis);
    }
    var unused = highest(); // Counters that are none are an error here too.
    Holder other = other();
    return other == null ? null : new ExtendReply.HeldByOther(other);
  }

  /** Whether the entry has all resources already: a grant is answered as the first time. */
  boolean isMine() {
    return documents.stream().allMatch(document -> document.mine(entry, nowMillis) != null);
  }

  /** The number of the entry's grant, if it has all resources. */
  long ownNumber() {
    return documents.stream()
        .mapToLong(document -> Objects.requireNonNull(document.mine(entry, nowMillis)).number())
        .max()
        .orElse(0);
  }

  private @Nullable Holder other() {
    for (LockDocument document : documents) {
      Held other = document.other(entry, nowMillis);
      if (other != null) {
        return other.describeAt(nowMillis);
      }
    }
    return null;
  }

  private long highest() {
    return documents.stream().mapToLong(LockDocument::counter).max().orElse(0);
  }
}
