package dev.lukko.testkit;

import dev.lukko.testkit.FaultProxy.Direction;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a {@link FaultProxy} is told to do with packets; all its connections ask here. */
final class FaultPlan {

  /** What becomes of a packet. */
  enum Verdict {
    PASS,
    /** This packet and all that follow it in this direction are lost. */
    MUTE,
    RESET
  }

  /** Waits for one packet; exactly one of the two outcomes is set. */
  private record Trap(
      Direction direction,
      Predicate<byte[]> matching,
      @Nullable HeldPacket held,
      @Nullable PendingLoss loss) {

    void cancel() {
      if (held != null) {
        held.cancel();
      }
      if (loss != null) {
        loss.happened().cancel(false);
      }
    }
  }

  /** A loss that the connection of the matching request suffers at its next reply, or at once. */
  record PendingLoss(Verdict verdict, boolean atReply, CompletableFuture<byte[]> happened) {}

  private static final class Way {
    boolean held;
    long delayNanos;
    long passedBytes;
    long waitingBytes;
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Direction, Way> ways = new EnumMap<>(Direction.class);
  private final List<Trap> traps = new ArrayList<>();
  private boolean closed;

  FaultPlan() {
    for (Direction direction : Direction.values()) {
      ways.put(direction, new Way());
    }
  }

  void hold(Direction direction) {
    change(() -> way(direction).held = true);
  }

  void delay(Direction direction, long delayNanos) {
    change(() -> way(direction).delayNanos = delayNanos);
  }

  void trapOnce(Direction direction, Predicate<byte[]> matching, HeldPacket held) {
    change(() -> traps.add(new Trap(direction, matching, held, null)));
  }

  CompletableFuture<byte[]> trapReply(Predicate<byte[]> request, Verdict verdict) {
    return trapRequest(request, new PendingLoss(verdict, true, new CompletableFuture<>()));
  }

  CompletableFuture<byte[]> trapRequest(Predicate<byte[]> request) {
    return trapRequest(request, new PendingLoss(Verdict.RESET, false, new CompletableFuture<>()));
  }

  private CompletableFuture<byte[]> trapRequest(Predicate<byte[]> request, PendingLoss loss) {
    change(() -> traps.add(new Trap(Direction.TO_SERVER, request, null, loss)));
    return loss.happened();
  }

  void heal() {
    change(
        () -> {
          ways.values()
              .forEach(
                  way -> {
                    way.held = false;
                    way.delayNanos = 0;
                  });
          traps.forEach(Trap::cancel);
          traps.clear();
        });
  }

  void close() {
    heal();
    change(() -> closed = true);
  }

  /** Wakes whoever waits in {@link #admit}, because a connection was closed. */
  void wake() {
    change(() -> {});
  }

  long passedBytes(Direction direction) {
    lock.lock();
    try {
      return way(direction).passedBytes;
    } finally {
      lock.unlock();
    }
  }

  long waitingBytes(Direction direction) {
    lock.lock();
    try {
      return way(direction).waitingBytes;
    } finally {
      lock.unlock();
    }
  }

  /** Waits as long as the packet is to wait, and says what becomes of it then. */
  Verdict admit(Direction direction, byte[] packet, ProxiedConnection connection)
      throws InterruptedException {
    HeldPacket held = null;
    lock.lock();
    try {
      Way way = way(direction);
      way.waitingBytes += packet.length;
      try {
        await(way, connection);
        Trap trap = takeTrap(direction, packet);
        if (trap != null && trap.loss() != null) {
          if (!trap.loss().atReply()) {
            connection.reset(); // before the future completes, so that who waits sees it gone
            trap.loss().happened().complete(packet);
            return Verdict.RESET;
          }
          connection.loseNextReply(trap.loss());
        } else if (trap != null) {
          held = trap.held();
        }
        while (held != null && held.isHeld(packet, this::wake) && connection.isOpen() && !closed) {
          changed.await();
        }
      } finally {
        way.waitingBytes -= packet.length;
      }
      if (!connection.isOpen()) {
        return Verdict.RESET;
      }
      way.passedBytes += packet.length;
      return Verdict.PASS;
    } finally {
      lock.unlock();
    }
  }

  /** The end of a stream must not overtake the packets before it. */
  void awaitEndOfStream(Direction direction, ProxiedConnection connection)
      throws InterruptedException {
    lock.lock();
    try {
      await(way(direction), connection);
    } finally {
      lock.unlock();
    }
  }

  private void await(Way way, ProxiedConnection connection) throws InterruptedException {
    long sinceNanos = System.nanoTime();
    while (connection.isOpen() && !closed) {
      long leftNanos = way.delayNanos - (System.nanoTime() - sinceNanos);
      if (way.held) {
        changed.await();
      } else if (leftNanos > 0) {
        changed.await(leftNanos, TimeUnit.NANOSECONDS);
      } else {
        return;
      }
    }
  }

  private @Nullable Trap takeTrap(Direction direction, byte[] packet) {
    for (Iterator<Trap> it = traps.iterator(); it.hasNext(); ) {
      Trap trap = it.next();
      if (trap.direction() == direction && trap.matching().test(packet)) {
        it.remove();
        return trap;
      }
    }
    return null;
  }

  private Way way(Direction direction) {
    Way way = ways.get(direction);
    if (way == null) {
      throw new AssertionError(direction);
    }
    return way;
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
