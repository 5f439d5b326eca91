package dev.lukko.testkit.sim;

import dev.lukko.LockClient;
import dev.lukko.redlock.MembershipChange;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A process with a client of the lock: its clock, its timers, and whether it runs at all. */
final class SimClient implements Ticker, Scheduler {
  private final World world;
  private final int number;
  private final SimClock clock;
  private final List<SimLink> links = new ArrayList<>();
  private @Nullable Redlock locks;
  private long pausedUntil;
  private boolean dead;
  private boolean clockTrouble;
  private boolean unobserved;
  private int pauses;
  private int pending;
  private int awaiting;

  SimClient(World world, int number, SimClock clock) {
    this(world, number, clock, world.nodes);
  }

  /** A client that knows some of the nodes only. */
  SimClient(World world, int number, SimClock clock, List<SimNode> nodes) {
    this.world = world;
    this.number = number;
    this.clock = clock;
    nodes.forEach(node -> links.add(new SimLink(world, this, node)));
  }

  /** Builds the client of the lock, by the public builder. */
  void start() {
    Plan plan = world.plan;
    if (plan.firstUnreachable() == number) {
      links.get(number % links.size()).unreachableAtFirst();
    }
    RedlockBuilder builder =
        Redlock.builder()
            .nodes(links)
            .ticker(this)
            .scheduler(this)
            .random(new SeededRandom(Dice.mix(plan.seed() + 31L * (number + 1))))
            .description("client-" + number)
            .nodeTimeout(Duration.ofNanos(plan.tauNanos()))
            .retryCount(Op.RETRIES)
            .retryDelay(Duration.ofNanos(plan.retryDelayNanos()))
            .retryJitter(Duration.ofNanos(plan.retryDelayNanos()))
            .maxTtl(Duration.ofNanos(plan.maxTtlNanos()))
            .strict(plan.strict())
            .returnByReading(plan.byReading())
            .closeNodes(false);
    locks = plan.settings().apply(builder).build();
    links.forEach(SimLink::connected);
  }

  /** Changes the set of the fleet's nodes, as a client of none of its locks. */
  void change(List<SimNode> target) {
    Plan plan = world.plan;
    links.forEach(SimLink::connected);
    MembershipChange.builder()
        .nodes(links)
        .to(links.stream().filter(link -> target.contains(link.node())).toList())
        .ticker(this)
        .scheduler(this)
        .random(new SeededRandom(Dice.mix(plan.seed() + 31L * (number + 1))))
        .maxTtl(Duration.ofNanos(plan.maxTtlNanos()))
        .nodeTimeout(Duration.ofNanos(plan.tauNanos()))
        .patience(Duration.ofNanos(3 * plan.ttlNanos()))
        .build()
        .start();
  }

  LockClient locks() {
    Redlock started = locks;
    if (started == null) {
      throw new IllegalStateException("the client was not started");
    }
    return started;
  }

  int number() {
    return number;
  }

  SimClock clock() {
    return clock;
  }

  List<SimLink> links() {
    return links;
  }

  // ---- faults

  /** Stands still: in the middle of the present step if it is making one, else before the next. */
  void standStill(long nanos) {
    if (!world.standStill(this, nanos)) {
      pauseUntil(world.now() + nanos);
    }
  }

  void pauseUntil(long time) {
    pauses++;
    pausedUntil = Math.max(pausedUntil, time);
  }

  /** Stands still with its whole machine: the monotonic clock does not go on. */
  void suspend(long nanos) {
    if (world.current() == this && !world.canStand(this)) {
      return; // Its step goes on, and a clock does not go back in the middle of it.
    }
    clockTrouble = true;
    clock.freeze(nanos);
    standStill(nanos);
  }

  void jumpWall(long nanos) {
    clockTrouble = true;
    clock.jumpWall(nanos / 1_000);
  }

  /** Whether its two clocks have ever disagreed: then no timer can be in time. */
  boolean hasClockTrouble() {
    return clockTrouble;
  }

  void kill() {
    dead = true;
  }

  /** Goes on if it was stopped. */
  void heal() {
    pausedUntil = Math.min(pausedUntil, world.now());
    links.forEach(link -> link.connection().heal());
  }

  boolean isDead() {
    return dead;
  }

  long pausedUntil() {
    return pausedUntil;
  }

  /** Whether it stood still at some time after another, or has woken up at that very time. */
  boolean hasStoodStillSince(long time) {
    return pausedUntil >= time;
  }

  /** How often it has stood still. */
  int pauses() {
    return pauses;
  }

  void awaits(int more) {
    awaiting += more;
  }

  boolean isAwaiting() {
    return !dead
        && (awaiting > 0
            || links.stream().anyMatch(link -> !link.connection().releases().isEmpty()));
  }

  /** How many timers and tasks wait. */
  int pending() {
    return pending;
  }

  // ---- clocks

  /** Reads something of the client without giving a fault the chance to strike meanwhile. */
  long unobserved(LongSupplier reading) {
    boolean before = unobserved;
    unobserved = true;
    try {
      return reading.getAsLong();
    } finally {
      unobserved = before;
    }
  }

  private void clockRead() {
    if (!unobserved && world.current() == this) {
      world.injector.moment(Hook.CLOCK_READ, this, null, null);
    }
  }

  @Override
  public long nanoTime() {
    clockRead();
    return clock.nanoTime();
  }

  @Override
  public long wallMicros() {
    clockRead();
    return clock.wallMicros();
  }

  // ---- timers

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    long delay = Math.max(0, Math.min(delayNanos, Long.MAX_VALUE / 8));
    long lag = world.weather.below(50_000);
    pending++;
    Event event =
        world.at(
            world.now() + clock.toTrueNanos(delay) + lag,
            this,
            () -> {
              pending--;
              task.run();
            });
    return () -> {
      if (!event.over) {
        event.over = true;
        pending--;
      }
    };
  }

  @Override
  public void execute(Runnable task) {
    pending++;
    world.at(
        world.now(),
        this,
        () -> {
          pending--;
          task.run();
        });
  }

  /** Nothing can happen inside a step. */
  @Override
  public boolean await(Future<?> future, long timeoutNanos) {
    return future.isDone();
  }

  @Override
  public void close() {}
}
