package dev.lukko.testkit.sim;

import dev.lukko.Lease;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.ReleaseOutcome;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A user of the lock: acquires, writes, extends, releases or not, one operation after another. */
final class Contender {
  private static final long SIGNAL_GRACE_NANOS = 2_500_000;

  /** Two questions to all nodes about their states, half a second each at most. */
  private static final long REVIEW_NANOS = 1_010_000_000;

  private final World world;
  private final SimClient client;
  private final Resource resource;
  private final Iterator<Op> ops;
  private boolean done;
  private boolean calling;

  Contender(World world, SimClient client, Resource resource, List<Op> ops) {
    this.world = world;
    this.client = client;
    this.resource = resource;
    this.ops = ops.iterator();
  }

  void begin() {
    if (ops.hasNext()) {
      Op op = ops.next();
      in(op.thinkNanos(), () -> acquire(op));
    } else {
      done = true;
    }
  }

  /** Whether it has nothing more to do, or its process is dead. */
  boolean isDone() {
    return done || client.isDead();
  }

  /** Whether a call of it has not come back. */
  boolean isCalling() {
    return calling && !client.isDead();
  }

  private void in(long nanos, Runnable next) {
    world.at(world.now() + nanos, client, next);
  }

  // ---- acquiring

  private void acquire(Op op) {
    calling = true;
    long calledAt = world.now();
    int pauses = client.pauses();
    LockRequest.Builder request =
        LockRequest.builder(op.resources())
            .ttl(Duration.ofNanos(op.ttlNanos()))
            .autoExtend(op.manner() == Op.Manner.AUTOMATIC)
            .shared(op.shared())
            .fair(op.fair());
    if (op.waitNanos() != Op.BY_RETRIES) {
      request.maxWait(Duration.ofNanos(op.waitNanos()));
    }
    CompletableFuture<Lease> call = client.locks().acquireAsync(request.build());
    call.whenComplete((lease, failure) -> ended(op, calledAt, pauses, lease, failure));
    if (op.manner() == Op.Manner.FICKLE) {
      in(op.holdNanos(), () -> call.cancel(false));
    }
  }

  private void ended(
      Op op, long calledAt, int pausesBefore, @Nullable Lease lease, @Nullable Throwable failure) {
    calling = false;
    if (client.isDead()) {
      return;
    }
    checkBound(op, calledAt, pausesBefore);
    if (lease != null) {
      hold(op, world.ledger.granted(lease, client));
      return;
    }
    if (failure instanceof LockNotAcquiredException
        ? failure instanceof QuorumUnavailableException && world.plan.isCalm()
        : op.manner() != Op.Manner.FICKLE) {
      world.violated(Check.CALM, "acquiring failed with " + failure);
    }
    begin();
  }

  /** A call ends inside its wait budget, and the rounds that may be under way then. */
  private void checkBound(Op op, long calledAt, int pausesBefore) {
    long took = world.now() - calledAt;
    long wait = op.waitNanos();
    if (wait == Op.BY_RETRIES) {
      // Hints lead to more rounds than there are retries: a handful for each.
      long beat = 2 * world.plan.retryDelayNanos();
      wait = Op.RETRIES * (beat + 5 * world.plan.tauNanos());
    }
    long bound = wait + wait / 100 + 3 * world.plan.tauNanos();
    if (!world.plan.isCalm()) {
      bound += 5 * world.plan.tauNanos() + REVIEW_NANOS;
    }
    if (took > bound && client.pauses() == pausesBefore && !client.hasClockTrouble()) {
      world.violated(
          Check.BOUND, String.format("a call with a wait of %d ns took %d ns", wait, took));
    }
  }

  // ---- holding

  private void hold(Op op, Acquisition mine) {
    world.injector.moment(Hook.LEASED, client, null, null);
    Lease lease = held(mine);
    lease.onLost(
        reason -> {
          world.ledger.lost(mine);
          world.log.add(
              world.now(), Hook.LOST, client.number(), -1, mine.number, reason.name().length());
        });
    watchTheEnd(mine);
    long validity = Math.max(0, mine.claimedEnd - world.now());
    switch (op.manner()) {
      case BRIEF, FICKLE -> {
        write(mine);
        in(
            op.holdNanos(),
            () -> {
              write(mine);
              release(op, mine);
            });
      }
      case TO_THE_END ->
          in(
              Math.max(0, validity + op.holdNanos() - op.ttlNanos()),
              () -> {
                write(mine);
                in(op.ttlNanos() / 50, () -> release(op, mine));
              });
      case EXTENDING -> {
        write(mine);
        in(op.ttlNanos() / 3, () -> extend(op, mine, op.holdNanos()));
      }
      case AUTOMATIC -> {
        write(mine);
        in(
            op.holdNanos(),
            () -> {
              world.ledger.look(mine);
              if (world.plan.isCalm() && mine.endSeen) {
                world.violated(Check.CALM, "the background extension let a lease end");
              }
              write(mine);
              release(op, mine);
            });
      }
      case FORGETFUL -> {
        write(mine);
        in(op.ttlNanos(), this::begin);
      }
      case DYING -> {
        write(mine);
        in(op.holdNanos(), client::kill);
      }
    }
  }

  private static Lease held(Acquisition mine) {
    Lease lease = mine.lease;
    if (lease == null) {
      throw new IllegalStateException("not granted");
    }
    return lease;
  }

  private void write(Acquisition mine) {
    world.ledger.look(mine);
    if (held(mine).isValid()) {
      world.injector.moment(Hook.CHECKED, client, null, null);
      if (!client.isDead()) {
        resource.send(mine);
      }
    }
  }

  private void extend(Op op, Acquisition mine, long leftNanos) {
    if (leftNanos <= 0) {
      write(mine);
      release(op, mine);
      return;
    }
    long ttl = world.weather.chance(25) ? op.ttlNanos() / 2 : op.ttlNanos();
    held(mine)
        .extendAsync(Duration.ofNanos(ttl))
        .whenComplete(
            (extended, failure) -> {
              if (client.isDead()) {
                return;
              }
              world.ledger.look(mine);
              if (world.plan.isCalm() && (failure != null || !extended)) {
                world.violated(Check.CALM, "an extension failed: " + failure);
              }
              if (failure != null) {
                in(op.ttlNanos() / 4, () -> release(op, mine));
              } else {
                in(ttl / 3, () -> extend(op, mine, leftNanos - ttl / 3));
              }
            });
  }

  /** Looks shortly after the end that a lease has now whether its loss was told. */
  private void watchTheEnd(Acquisition mine) {
    checkSignalIn(Math.max(0, mine.claimedEnd - world.now()) + SIGNAL_GRACE_NANOS, mine);
  }

  private void checkSignalIn(long nanos, Acquisition mine) {
    long due = world.now() + nanos;
    in(nanos, () -> checkSignal(due, mine));
  }

  private void checkSignal(long due, Acquisition mine) {
    if (!mine.isLive() || client.hasClockTrouble()) {
      return;
    }
    if (client.hasStoodStillSince(due - SIGNAL_GRACE_NANOS)) {
      // Whatever was due then happens at its wake-up, in some order: the signal has its grace anew.
      checkSignalIn(SIGNAL_GRACE_NANOS, mine);
      return;
    }
    long end = mine.claimedEnd;
    world.ledger.look(mine);
    if (mine.endSeen && end <= world.now() - SIGNAL_GRACE_NANOS) {
      world.violated(
          Check.LOSS, "the loss of acquisition " + mine.number + " was not told in time");
    }
    watchTheEnd(mine);
  }

  private void release(Op op, Acquisition mine) {
    world.ledger.releases(mine);
    held(mine)
        .releaseAsync()
        .whenComplete(
            (outcome, failure) -> {
              if (!client.isDead()) {
                world.ledger.look(mine);
                check(outcome, mine);
                begin();
              }
            });
    in(op.ttlNanos() / 2, () -> world.ledger.look(mine));
  }

  private void check(@Nullable ReleaseOutcome outcome, Acquisition mine) {
    if (outcome == null) {
      world.violated(Check.OUTCOME, "a release failed");
      return;
    }
    boolean certain = outcome.status() == ReleaseOutcome.Status.RELEASED;
    if (certain && mine.deletions < world.leastQuorum()) {
      world.violated(
          Check.OUTCOME, "released, said " + mine.number + ", by " + mine.deletions + " nodes");
    }
    if (!certain && world.plan.isCalm() && !mine.endSeen) {
      world.violated(Check.CALM, "a release ended with " + outcome.describe());
    }
  }
}
