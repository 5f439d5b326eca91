package dev.lukko.redlock;

import dev.lukko.spi.Capability;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.LockNode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Where the waiting calls of one client stand in line, and only the first of a line asks the nodes.
 * So many threads cost the servers no more than one.
 *
 * <p>A line is for the same names and the same mode. Writers and readers are served first come,
 * first served. Those who ask for fairness stand in one line, writers and readers alike, by the
 * order of their tickets: it is the order in which the nodes grant to them, and a wake-up is of use
 * to nobody but the first.
 *
 * <p>Readers do not stand behind writers, but a reader that comes while a writer waits lets it go
 * first for as long as that one has waited already. So readers that keep coming leave ever longer
 * gaps, until all of them have left and the writer is granted; and no reader waits for a writer
 * longer than the writer had waited.
 *
 * <p>A line that has waiters watches its names at every node that can give hints. A quorum of hints
 * wakes the first waiter, and it alone; the second is woken by the first's departure.
 */
final class WaitRoom {
  private final List<LockNode> nodes;
  private final BitSet watchable = new BitSet();
  private final Supplier<Electorate> electorate;
  private final Map<Key, Line> lines = new HashMap<>();

  /**
   * A room without waiters.
   *
   * @param electorate tells whose hints count
   */
  WaitRoom(List<LockNode> nodes, Supplier<Electorate> electorate) {
    this.nodes = nodes;
    this.electorate = electorate;
    for (int i = 0; i < nodes.size(); i++) {
      watchable.set(i, nodes.get(i).capabilities().contains(Capability.WATCH));
    }
  }

  /** Whether a quorum of the nodes gives hints, so that a waiter need not poll often. */
  boolean isWatched() {
    return electorate.get().isMajority(watchable::get);
  }

  /** Takes a place behind other waiters of its line, if there are any. */
  synchronized boolean joinIfLine(AcquireLoop waiter) {
    Line line = lines.get(Key.of(waiter));
    return line != null && line.addBehindAnother(waiter);
  }

  /**
   * Takes a place in its line, unless it has one.
   *
   * @return whether it stands before others now, to whom a wake-up may have gone in vain
   */
  boolean join(AcquireLoop waiter) {
    Line opened = null;
    boolean before = false;
    synchronized (this) {
      Line line = lines.get(Key.of(waiter));
      if (line == null) {
        opened = new Line();
        line = opened;
        lines.put(Key.of(waiter), line);
      }
      if (!line.waiters.contains(waiter)) {
        before = !line.addBehindAnother(waiter) && line.addFirst(waiter);
      }
    }
    if (opened != null) {
      watch(waiter.resources(), opened);
    }
    return before;
  }

  synchronized boolean isFirst(AcquireLoop waiter) {
    Line line = lines.get(Key.of(waiter));
    return line == null || line.first() == waiter;
  }

  /** How long a reader shall let a waiting writer go first; zero if there is none. */
  long nanosToLetWritersPass(AcquireLoop reader) {
    AcquireLoop writer;
    synchronized (this) {
      Line writers = Key.of(reader).mode == Mode.SHARED ? lines.get(Key.writersOf(reader)) : null;
      writer = writers == null ? null : writers.first();
    }
    return writer == null ? 0 : writer.waitedNanos();
  }

  /**
   * Gives up a place.
   *
   * @param wake whether the next in line should ask at once
   */
  void leave(AcquireLoop waiter, boolean wake) {
    AcquireLoop next = null;
    AcquireLoop reader = null;
    Line closed = null;
    synchronized (this) {
      Key key = Key.of(waiter);
      Line line = lines.get(key);
      if (line == null) {
        return;
      }
      boolean wasFirst = line.first() == waiter;
      line.waiters.remove(waiter);
      if (line.waiters.isEmpty()) {
        lines.remove(key);
        closed = line;
        Line readers = key.mode == Mode.EXCLUSIVE ? lines.get(Key.readersOf(waiter)) : null;
        reader = readers == null ? null : readers.first();
      } else if (wasFirst) {
        next = line.first();
      }
    }
    if (closed != null) {
      closed.close();
    }
    if (next != null) {
      next.becomeFirst(wake);
    }
    if (reader != null) {
      reader.noWriterWaits(wake);
    }
  }

  /** A round begins: hints from before it say nothing about after it. */
  synchronized void asking(AcquireLoop waiter) {
    Line line = lines.get(Key.of(waiter));
    if (line != null) {
      line.hinted.clear();
    }
  }

  /** Takes note of how a round ended that a hint had begun: whether another client was faster. */
  synchronized void hintEnded(AcquireLoop waiter, boolean won) {
    Line line = lines.get(Key.of(waiter));
    if (line != null) {
      line.turns.ended(won);
    }
  }

  /** How many other clients this one shall let pass, as far as the last rounds have told. */
  synchronized int turnsToLetPass(AcquireLoop waiter, double random) {
    Line line = lines.get(Key.of(waiter));
    return line == null ? 0 : line.turns.toLetPass(random);
  }

  /**
   * A hold of this client has ended; a hint for those who get none from the nodes.
   *
   * @param watchers how many clients a node has told of it, as far as nodes know
   */
  void releasedHere(List<String> resources, int watchers) {
    if (watchers > 0) {
      synchronized (this) {
        for (Mode mode : Mode.values()) {
          Line line = lines.get(new Key(resources, mode));
          if (line != null) {
            line.turns.others(watchers - 1); // This client is one of them.
          }
        }
      }
    }
    if (isWatched()) {
      return; // All clients hear of it at the same time, this one has no head start.
    }
    List<AcquireLoop> first = new ArrayList<>();
    synchronized (this) {
      if (lines.isEmpty()) {
        return;
      }
      Set<String> released = new LinkedHashSet<>(resources);
      lines.forEach(
          (key, line) -> {
            if (key.resources.stream().anyMatch(released::contains)) {
              first.add(line.waiters.get(0));
            }
          });
    }
    first.forEach(AcquireLoop::wake);
  }

  private void watch(List<String> resources, Line line) {
    for (int i = 0; i < nodes.size(); i++) {
      LockNode node = nodes.get(i);
      if (node.capabilities().contains(Capability.WATCH)) {
        int index = i;
        for (String resource : resources) {
          line.add(node.watch(resource, () -> hint(line, index)));
        }
      }
    }
  }

  private void hint(Line line, int node) {
    AcquireLoop first = null;
    synchronized (this) {
      line.hinted.set(node);
      if (electorate.get().isMajority(line.hinted::get)) {
        line.hinted.clear();
        first = line.first();
      }
    }
    if (first != null) {
      first.wake();
    }
  }

  /** How the calls of a line wait. */
  private enum Mode {
    EXCLUSIVE,
    SHARED,
    /** By ticket, writers and readers in one line. */
    FAIR
  }

  /** What the calls of a line have in common. */
  private record Key(List<String> resources, Mode mode) {
    static Key of(AcquireLoop waiter) {
      Mode mode =
          waiter.ticket() != null ? Mode.FAIR : waiter.isShared() ? Mode.SHARED : Mode.EXCLUSIVE;
      return new Key(waiter.resources(), mode);
    }

    static Key writersOf(AcquireLoop waiter) {
      return new Key(waiter.resources(), Mode.EXCLUSIVE);
    }

    static Key readersOf(AcquireLoop waiter) {
      return new Key(waiter.resources(), Mode.SHARED);
    }
  }

  /** The waiters of one kind for one set of names. Guarded by the room, but for the watches. */
  private static final class Line {
    final List<AcquireLoop> waiters = new ArrayList<>();
    final BitSet hinted = new BitSet();
    final Turns turns = new Turns();
    private @Nullable List<LockNode.Watch> watches = new ArrayList<>();

    /** The waiter that asks, or null if nobody waits. */
    @Nullable AcquireLoop first() {
      return waiters.isEmpty() ? null : waiters.get(0);
    }

    /** Adds a waiter behind all that come before it, unless it would be the first. */
    boolean addBehindAnother(AcquireLoop waiter) {
      for (int place = waiters.size(); place > 0; place--) {
        if (!isBefore(waiter, waiters.get(place - 1))) {
          waiters.add(place, waiter);
          return true;
        }
      }
      return false;
    }

    /** Adds a waiter before all others; whether there are any. */
    boolean addFirst(AcquireLoop waiter) {
      waiters.add(0, waiter);
      return waiters.size() > 1;
    }

    private static boolean isBefore(AcquireLoop waiter, AcquireLoop other) {
      FairTicket ticket = waiter.ticket();
      FairTicket others = other.ticket();
      return ticket != null && others != null && ticket.compareTo(others) < 0;
    }

    void add(LockNode.Watch watch) {
      synchronized (waiters) {
        if (watches != null) {
          watches.add(watch);
          return;
        }
      }
      watch.close(); // The line was closed while it was being opened.
    }

    void close() {
      List<LockNode.Watch> open;
      synchronized (waiters) {
        open = watches == null ? List.of() : watches;
        watches = null;
      }
      open.forEach(LockNode.Watch::close);
    }
  }
}
