package dev.lukko.redlock;

import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.LockNode;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Collects what a {@link MembershipChange} needs; each setter checks its value at once. */
public final class MembershipChangeBuilder {
  final List<LockNode> present = new ArrayList<>();
  final List<LockNode> next = new ArrayList<>();
  @Nullable String fleet;
  Duration maxTtl = Duration.ofMinutes(5);
  double driftFactor = 0.01;
  Duration nodeTimeout = Duration.ofSeconds(2);
  Duration patience = Duration.ofSeconds(30);
  Ticker ticker = Ticker.system();
  @Nullable Scheduler scheduler;
  SecureRandom random = new SecureRandom();
  Consumer<? super String> progress = line -> {};

  MembershipChangeBuilder() {}

  /** The nodes of the fleet as it is. They are not closed. */
  public MembershipChangeBuilder nodes(Collection<? extends LockNode> nodes) {
    present.addAll(nodes);
    return this;
  }

  /**
   * The nodes that the fleet shall have. One that it has already is recognised by its name. They
   * are not closed.
   */
  public MembershipChangeBuilder to(Collection<? extends LockNode> nodes) {
    next.addAll(nodes);
    return this;
  }

  /** The name of the fleet, see {@link RedlockBuilder#fleet}. */
  public MembershipChangeBuilder fleet(String name) {
    this.fleet = FleetRecord.checkedName(name);
    return this;
  }

  /**
   * The longest ttl that any client of the fleet asks for: for so long the change waits. See {@link
   * RedlockBuilder#maxTtl}.
   */
  public MembershipChangeBuilder maxTtl(Duration ttl) {
    this.maxTtl = positive("maxTtl", ttl);
    return this;
  }

  /** See {@link RedlockBuilder#driftFactor}. */
  public MembershipChangeBuilder driftFactor(double factor) {
    if (!(factor >= 0 && factor < 1)) {
      throw new IllegalArgumentException(
          "driftFactor is " + factor + "; it must be at least 0 and less than 1");
    }
    this.driftFactor = factor;
    return this;
  }

  /** How long a node may take for an answer. Default: 2 s. */
  public MembershipChangeBuilder nodeTimeout(Duration timeout) {
    this.nodeTimeout = positive("nodeTimeout", timeout);
    return this;
  }

  /** How long to wait for a majority that cannot be reached. Default: 30 s. */
  public MembershipChangeBuilder patience(Duration time) {
    this.patience = positive("patience", time);
    return this;
  }

  /** What is told of each step, in one line. Default: nobody. */
  public MembershipChangeBuilder progress(Consumer<? super String> listener) {
    this.progress = Objects.requireNonNull(listener, "progress");
    return this;
  }

  /** Replaces the clocks, for tests and simulations. */
  public MembershipChangeBuilder ticker(Ticker replacement) {
    this.ticker = Objects.requireNonNull(replacement, "ticker");
    return this;
  }

  /** The timers, which are the caller's to close. */
  public MembershipChangeBuilder scheduler(Scheduler timers) {
    this.scheduler = Objects.requireNonNull(timers, "scheduler");
    return this;
  }

  /** Replaces the source of the ids of new nodes, for simulations that can be repeated. */
  public MembershipChangeBuilder random(SecureRandom replacement) {
    this.random = Objects.requireNonNull(replacement, "random");
    return this;
  }

  /**
   * The change, which has not begun.
   *
   * @throws IllegalArgumentException if there are no nodes to change from or to, or one is named
   *     twice
   */
  public MembershipChange build() {
    check("nodes", present);
    check("to", next);
    if (scheduler == null) {
      throw new IllegalArgumentException("scheduler is missing; give the timers to wait with");
    }
    return new MembershipChange(this);
  }

  private static void check(String field, List<LockNode> nodes) {
    if (nodes.isEmpty()) {
      throw new IllegalArgumentException(field + " is empty; a fleet needs at least one node");
    }
    Set<String> names = new HashSet<>();
    for (LockNode node : nodes) {
      if (!names.add(node.name())) {
        throw new IllegalArgumentException(field + " has " + node.name() + " twice");
      }
    }
  }

  private static Duration positive(String field, Duration value) {
    Objects.requireNonNull(value, field);
    if (value.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException(field + " is " + value + "; it must be at least 1 ms");
    }
    return value;
  }
}
