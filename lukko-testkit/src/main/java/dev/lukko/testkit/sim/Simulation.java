package dev.lukko.testkit.sim;

import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.testkit.sim.SimulationReport.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Many short histories of a lock under faults: the engine of production, unchanged, under a virtual
 * clock, with one queue of events and one seed.
 *
 * <pre>{@code
 * Simulation.builder().seed(42).histories(20_000).build().run().throwIfFailed();
 * }</pre>
 *
 * <p>A history has one to five nodes, each with a clock of its own, some clients, and contenders
 * that acquire, write to a fenced resource, extend, hold, release, change their minds or die.
 * Messages are slow, lost, late, overtaken or repeated; clients are paused in the middle of a step,
 * suspended or killed; nodes hang, restart, forget, and lie about the time. Then the faults end,
 * and a free lock must be granted soon. Everything in {@link Check} is checked. The first history
 * that fails is run again with ever fewer operations and faults, and reported with the shortest
 * list.
 *
 * <p>Everything in a history follows from its seed: history {@code i} of a simulation with seed
 * {@code s} has the seed {@code s + i}. Virtual time costs nothing, and the engine logs through
 * {@code System.Logger} as it does in production: switch its loggers ({@code dev.lukko}) off for
 * speed. Immutable and thread-safe.
 */
public final class Simulation {
  private static final int CHUNK = 64;

  private final long seed;
  private final long histories;
  private final int threads;
  private final double rateError;
  private final UnaryOperator<RedlockBuilder> settings;

  private Simulation(Builder builder) {
    this.seed = builder.seed;
    this.histories = builder.histories;
    this.threads = builder.threads;
    this.rateError = builder.rateError;
    this.settings = builder.settings;
  }

  /** A builder: one history of seed 0 in one thread, with clocks inside the bound. */
  public static Builder builder() {
    return new Builder();
  }

  /** Runs the histories until all are done or one has failed. Waits until then. */
  public SimulationReport run() {
    long begin = System.nanoTime();
    Batch batch = new Batch();
    List<Thread> helpers = new ArrayList<>();
    for (int i = 1; i < threads; i++) {
      Thread helper = new Thread(batch::work, "lukko-simulation-" + i);
      helper.setDaemon(true);
      helper.start();
      helpers.add(helper);
    }
    batch.work();
    join(helpers);
    return new SimulationReport(
        seed,
        batch.done.get(),
        batch.grants.get(),
        Duration.ofNanos(batch.micros.get() * 1_000),
        Duration.ofNanos(System.nanoTime() - begin),
        batch.hash.get(),
        Optional.ofNullable(batch.failure));
  }

  private static void join(List<Thread> helpers) {
    boolean interrupted = false;
    for (Thread helper : helpers) {
      while (true) {
        try {
          helper.join();
          break;
        } catch (InterruptedException interrupt) {
          interrupted = true; // The helpers end by themselves soon.
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** The histories of one run, and what they have come to so far. */
  private final class Batch {
    final AtomicLong next = new AtomicLong();
    final AtomicLong done = new AtomicLong();
    final AtomicLong grants = new AtomicLong();
    final AtomicLong micros = new AtomicLong();
    final AtomicLong hash = new AtomicLong();
    final AtomicBoolean failed = new AtomicBoolean();
    volatile @Nullable Failure failure;

    void work() {
      for (long from = next.getAndAdd(CHUNK); from < histories; from = next.getAndAdd(CHUNK)) {
        for (long i = from; i < Math.min(histories, from + CHUNK); i++) {
          if (failed.get()) {
            return;
          }
          runOne(i);
        }
      }
    }

    private void runOne(long index) {
      Plan plan = Planner.plan(seed + index, rateError, settings);
      Outcome outcome = History.run(plan, false);
      long before = done.getAndIncrement();
      grants.addAndGet(outcome.grants());
      micros.addAndGet(outcome.nanos() / 1_000);
      hash.addAndGet(Dice.mix(outcome.hash() + index));
      Violation violation = outcome.violation();
      if (violation != null && failed.compareAndSet(false, true)) {
        failure = explain(plan, violation, before);
      }
    }
  }

  private static Failure explain(Plan plan, Violation violation, long before) {
    Plan shortest = Shrinker.shrink(plan, violation.check());
    Outcome traced = History.run(shortest, true);
    Violation shown = Objects.requireNonNullElse(traced.violation(), violation);
    List<String> steps = new ArrayList<>();
    steps.add(
        shortest.weather()
            + ", "
            + shortest.nodeSkews().size()
            + " nodes, ttl "
            + shortest.ttlNanos() / 1_000_000
            + " ms, node timeout "
            + shortest.tauNanos() / 1_000_000
            + " ms");
    shortest.ops().forEach(op -> steps.add(op.toString()));
    shortest.faults().forEach(fault -> steps.add(fault.toString()));
    return new Failure(plan.seed(), before, violation.check(), shown.what(), steps, traced.lines());
  }

  /** Collects the parts of a simulation; each setter checks at once. Not thread-safe. */
  public static final class Builder {
    private long seed;
    private long histories = 1;
    private int threads = 1;
    private double rateError = 0.0045;
    private UnaryOperator<RedlockBuilder> settings = UnaryOperator.identity();

    private Builder() {}

    /** The seed of the first history. */
    public Builder seed(long seed) {
      this.seed = seed;
      return this;
    }

    /** How many histories; at least 1. */
    public Builder histories(long histories) {
      if (histories < 1) {
        throw new IllegalArgumentException("histories is " + histories + "; it must be at least 1");
      }
      this.histories = histories;
      return this;
    }

    /** In how many threads, each with histories of its own; 1 to 1,024. */
    public Builder threads(int threads) {
      if (threads < 1 || threads > 1_024) {
        throw new IllegalArgumentException(
            "threads is " + threads + "; it must be between 1 and 1024");
      }
      this.threads = threads;
      return this;
    }

    /**
     * By how much the rate of a clock may be wrong, as a fraction from 0 to 0.5. The default,
     * 0.0045, is inside of what the drift of a lease covers; with more, two leases can be valid at
     * the same time, and the simulation finds that.
     */
    public Builder rateError(double rateError) {
      if (!(rateError >= 0 && rateError <= 0.5)) {
        throw new IllegalArgumentException(
            "rateError is " + rateError + "; it must be between 0 and 0.5");
      }
      this.rateError = rateError;
      return this;
    }

    /**
     * Changes the settings of the clients, after those that the simulation has drawn. Clocks,
     * timers, nodes and chance must stay the simulation's.
     */
    public Builder settings(UnaryOperator<RedlockBuilder> settings) {
      this.settings = Objects.requireNonNull(settings, "settings");
      return this;
    }

    /** The simulation. */
    public Simulation build() {
      return new Simulation(this);
    }
  }
}
