package dev.lukko.redlock;

import dev.lukko.spi.Capability;
import dev.lukko.spi.LockNode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where the waiting calls of one client stand in line: first come, first served for the same names,
 * and only the first of a line asks the nodes. So many threads cost the servers no more than one.
 *
 * <p>A line that has waiters watches its names at every node that can give hints. A quorum of hints
 * wakes the first waiter, and it alone; the second is woken by the first's departure.
 */
final class WaitRoom {
  private final List<LockNode> nodes;
  private final int watchable;
  private final Map<List<String>, Line> lines = new HashMap<>();

  WaitRoom(List<LockNode> nodes) {
    this.nodes = nodes;
    this.watchable =
        (int) nodes.stream().filter(node -> node.capabilities().contains(Capability.WATCH)).count();
  }

  /** Whether a quorum of the nodes gives hints, so that a waiter need not poll often. */
  boolean isWatched() {
    return watchable >= Tally.quorumOf(nodes.size());
  }

  /** Takes a place behind waiters for the same names, if there are any. */
  boolean joinIfLine(AcquireLoop waiter) {
    synchronized (this) {
      Line line = lines.get(waiter.resources());
      if (line == null) {
        return false;
      }
      line.waiters.add(waiter);
      return true;
    }
  }

  /** Takes a place, at the end of the line for these names, unless it has one. */
  void join(AcquireLoop waiter) {
    Line opened = null;
    synchronized (this) {
      Line line = lines.get(waiter.resources());
      if (line == null) {
        opened = new Line();
        line = opened;
        lines.put(waiter.resources(), line);
      }
      if (!line.waiters.contains(waiter)) {
        line.waiters.add(waiter);
      }
    }
    if (opened != null) {
      watch(waiter.resources(), opened);
    }
  }

  synchronized boolean isFirst(AcquireLoop waiter) {
    Line line = lines.get(waiter.resources());
    return line == null || line.waiters.peekFirst() == waiter;
  }

  /**
   * Gives up a place.
   *
   * @param wake whether the next in line should ask at once
   */
  void leave(AcquireLoop waiter, boolean wake) {
    AcquireLoop next = null;
    Line closed = null;
    synchronized (this) {
      Line line = lines.get(waiter.resources());
      if (line == null) {
        return;
      }
      boolean wasFirst = line.waiters.peekFirst() == waiter;
      line.waiters.remove(waiter);
      if (line.waiters.isEmpty()) {
        lines.remove(waiter.resources());
        closed = line;
      } else if (wasFirst) {
        next = line.waiters.peekFirst();
      }
    }
    if (closed != null) {
      closed.close();
    }
    if (next != null) {
      next.becomeFirst(wake);
    }
  }

  /** A round begins: hints from before it say nothing about after it. */
  synchronized void asking(AcquireLoop waiter) {
    Line line = lines.get(waiter.resources());
    if (line != null) {
      line.hinted.clear();
    }
  }

  /** Takes note of how a round ended that a hint had begun: whether another client was faster. */
  synchronized void hintEnded(AcquireLoop waiter, boolean won) {
    Line line = lines.get(waiter.resources());
    if (line != null) {
      line.turns.ended(won);
    }
  }

  /** How many other clients this one shall let pass, as far as the last rounds have told. */
  synchronized int turnsToLetPass(AcquireLoop waiter, double random) {
    Line line = lines.get(waiter.resources());
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
        Line line = lines.get(resources);
        if (line != null) {
          line.turns.others(watchers - 1); // This client is one of them.
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
          (names, line) -> {
            if (names.stream().anyMatch(released::contains)) {
              first.add(line.waiters.getFirst());
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
      if (line.hinted.cardinality() >= Tally.quorumOf(nodes.size())) {
        line.hinted.clear();
        first = line.waiters.peekFirst();
      }
    }
    if (first != null) {
      first.wake();
    }
  }

  /** The waiters for one set of names. Guarded by the room, but for the watches. */
  private static final class Line {
    final Deque<AcquireLoop> waiters = new ArrayDeque<>();
    final BitSet hinted = new BitSet();
    final Turns turns = new Turns();
    private @Nullable List<LockNode.Watch> watches = new ArrayList<>();

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
