package dev.lukko.redlock;

import dev.lukko.LockException;
import dev.lukko.LockListener;
import dev.lukko.lease.Events;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ProcessName;
import dev.lukko.time.Callbacks;
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
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Collects the nodes and settings of a {@link Redlock}; each setter checks its value at once. Not
 * thread-safe.
 *
 * <table>
 *   <caption>Settings</caption>
 *   <tr><th>setting</th><th>default</th><th>range</th></tr>
 *   <tr><td>{@link #driftFactor}</td><td>0.01</td><td>0 to less than 1</td></tr>
 *   <tr><td>{@link #driftBuffer}</td><td>2 ms</td><td>0 or more</td></tr>
 *   <tr><td>{@link #retryCount}</td><td>10</td><td>0 or more, or {@link #retryForever}</td></tr>
 *   <tr><td>{@link #retryDelay}</td><td>200 ms</td><td>0 or more</td></tr>
 *   <tr><td>{@link #retryJitter}</td><td>200 ms</td><td>0 or more</td></tr>
 *   <tr><td>{@link #extendWhenRemaining}</td><td>two thirds of the ttl less its drift</td>
 *       <td>positive, below the ttl less its drift</td></tr>
 *   <tr><td>{@link #nodeTimeout}</td><td>5 % of the ttl or more, see there</td>
 *       <td>1 ms or more</td></tr>
 *   <tr><td>{@link #minValidity}</td><td>0</td><td>0 or more, below the ttl less its drift</td></tr>
 *   <tr><td>{@link #maxTtl}</td><td>5 min</td><td>1 ms or more</td></tr>
 * </table>
 */
public final class RedlockBuilder {
  private static final Duration LONGEST = Duration.ofDays(100 * 365L);

  private final List<LockNode> nodes = new ArrayList<>();
  private final List<LockListener> listeners = new ArrayList<>();
  private double driftFactor = 0.01;
  private Duration driftBuffer = Duration.ofMillis(2);
  private int retryCount = 10;
  private Duration retryDelay = Duration.ofMillis(200);
  private Duration retryJitter = Duration.ofMillis(200);
  private @Nullable Duration extendWhenRemaining;
  private @Nullable Duration nodeTimeout;
  private Duration minValidity = Duration.ZERO;
  private Duration maxTtl = Duration.ofMinutes(5);
  private @Nullable String fleet;
  private boolean quarantine = true;
  private boolean returnByReading;
  private boolean strict;
  private boolean releaseOnClose = true;
  private boolean closeNodes = true;
  private boolean traceLeaks;
  private @Nullable String description;
  private Ticker ticker = Ticker.system();
  private @Nullable Scheduler scheduler;
  private @Nullable Executor callbackExecutor;
  private @Nullable SecureRandom random;

  RedlockBuilder() {}

  /** Adds a node. */
  public RedlockBuilder node(LockNode node) {
    nodes.add(Objects.requireNonNull(node, "node"));
    return this;
  }

  /** Adds nodes. An odd number is best: an even one tolerates no more failures than one less. */
  public RedlockBuilder nodes(Collection<? extends LockNode> more) {
    more.forEach(this::node);
    return this;
  }

  /** How far the rates of the clocks may differ, as a fraction of the ttl. */
  public RedlockBuilder driftFactor(double factor) {
    if (!(factor >= 0 && factor < 1)) {
      throw new IllegalArgumentException(
          "driftFactor is " + factor + "; it must be at least 0 and less than 1");
    }
    this.driftFactor = factor;
    return this;
  }

  /** A fixed part of the drift, for the granularity of the nodes' expiry. */
  public RedlockBuilder driftBuffer(Duration buffer) {
    this.driftBuffer = atLeast("driftBuffer", buffer, Duration.ZERO);
    return this;
  }

  /**
   * How many retry delays a call without a wait budget waits for after its first round, asking
   * again after each; zero makes exactly one round. A hint that the lock was released adds a round
   * without using up a delay. Nodes that are silent are asked again as those that refuse the lock
   * are; a call fails at once if a majority refuses the connection.
   */
  public RedlockBuilder retryCount(int count) {
    if (count < 0) {
      throw new IllegalArgumentException(
          "retryCount is " + count + "; it must not be negative (retryForever() is for that)");
    }
    this.retryCount = count;
    return this;
  }

  /** Lets a call without a wait budget try without end. */
  public RedlockBuilder retryForever() {
    this.retryCount = Settings.ENDLESS;
    return this;
  }

  /** The time between two tries, to which the jitter is added. */
  public RedlockBuilder retryDelay(Duration delay) {
    this.retryDelay = atLeast("retryDelay", delay, Duration.ZERO);
    return this;
  }

  /** The bound of the random time that is added to every retry delay. */
  public RedlockBuilder retryJitter(Duration jitter) {
    this.retryJitter = atLeast("retryJitter", jitter, Duration.ZERO);
    return this;
  }

  /**
   * The automatic extension threshold: a lease is extended in the background when this much of its
   * validity, or less, remains. A request whose ttl is too short for it is refused.
   */
  public RedlockBuilder extendWhenRemaining(Duration remaining) {
    this.extendWhenRemaining = atLeast("extendWhenRemaining", remaining, Duration.ofMillis(1));
    return this;
  }

  /**
   * How long one node may take before it counts as silent in a round. Default: the longest of 5 %
   * of the ttl and, up to a quarter of the ttl, 200 ms and twice what a quorum of the nodes has
   * taken of late; at least 20 ms and at most 1 s.
   */
  public RedlockBuilder nodeTimeout(Duration timeout) {
    this.nodeTimeout = atLeast("nodeTimeout", timeout, Duration.ofMillis(1));
    return this;
  }

  /** The validity that must be left for a round to be won: more than this. */
  public RedlockBuilder minValidity(Duration validity) {
    this.minValidity = atLeast("minValidity", validity, Duration.ZERO);
    return this;
  }

  /**
   * The longest ttl that any client of these nodes asks for; a longer one is refused. A node that
   * lost its memory, or was restarted and may have, does not vote for this long, since something
   * that it granted may be valid until then. It must be the same in the whole fleet.
   */
  public RedlockBuilder maxTtl(Duration ttl) {
    this.maxTtl = atLeast("maxTtl", ttl, Duration.ofMillis(1));
    return this;
  }

  /**
   * The name of the fleet: the set of nodes that decide by majority. Not needed as long as no node
   * belongs to two sets of the same size: without one, the client takes the fleet that its nodes
   * have, or makes a new one of them. All clients of a fleet give the same name or none.
   *
   * @param name 1 to 40 letters, digits, dots, dashes and underscores, beginning with a letter or a
   *     digit
   */
  public RedlockBuilder fleet(String name) {
    this.fleet = FleetRecord.checkedName(name);
    return this;
  }

  /**
   * Whether a minority of nodes that forgot is kept from voting for {@link #maxTtl}. Default: yes.
   * Without it the lock is safe only if no node ever forgets, and a ttl may be of any length.
   */
  public RedlockBuilder quarantine(boolean on) {
    this.quarantine = on;
    return this;
  }

  /**
   * Whether a node that forgot votes again, after its quarantine, only when the highest counters of
   * a majority of the other nodes have been read; its numbers go on above them. Default: no: then
   * that tokens rise rests on clocks, since the numbers that clients propose are of their clocks.
   * It is for those whose clocks are not kept, and all clients of a fleet should be set alike: the
   * one that finds the node decides, and any client then reads. Needs as many nodes that vote as
   * make a majority, and the right to SCAN on Redis.
   */
  public RedlockBuilder returnByReading(boolean on) {
    this.returnByReading = on;
    return this;
  }

  /**
   * Whether safety goes before availability in doubt. Default: no. A strict client keeps even a
   * majority of nodes without memory from voting for {@link #maxTtl} (which a new deployment has to
   * wait for, too), and refuses nodes that warn of their own settings, such as an eviction policy.
   */
  public RedlockBuilder strict(boolean on) {
    this.strict = on;
    return this;
  }

  /** Adds a listener. */
  public RedlockBuilder listener(LockListener listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
    return this;
  }

  /**
   * Whether closing the client releases the leases that are still held. Default: yes. Otherwise
   * they end by their ttl.
   */
  public RedlockBuilder releaseOnClose(boolean release) {
    this.releaseOnClose = release;
    return this;
  }

  /**
   * Whether each lease keeps the stack of its acquisition, so that a leaked one can be reported
   * with where it came from. Default: no; it costs a few microseconds and some memory for each
   * lease.
   */
  public RedlockBuilder traceLeaks(boolean trace) {
    this.traceLeaks = trace;
    return this;
  }

  /** Whether closing the client closes its nodes. Default: yes. No is for nodes that are shared. */
  public RedlockBuilder closeNodes(boolean close) {
    this.closeNodes = close;
    return this;
  }

  /**
   * What stands for this process in the metadata of owner values; by default process id and host
   * name. At most 60 characters, no control characters.
   */
  public RedlockBuilder description(String text) {
    if (text.length() > 60 || text.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "description has "
              + text.length()
              + " characters; it must have at most 60, and no control characters");
    }
    this.description = text;
    return this;
  }

  /** Replaces the clocks, for tests and simulations. */
  public RedlockBuilder ticker(Ticker replacement) {
    this.ticker = Objects.requireNonNull(replacement, "ticker");
    return this;
  }

  /**
   * Replaces timers and callback threads. The client does not close a scheduler that it was given.
   */
  public RedlockBuilder scheduler(Scheduler replacement) {
    this.scheduler = Objects.requireNonNull(replacement, "scheduler");
    return this;
  }

  /**
   * Replaces the threads of callbacks, listeners, asynchronous bodies and dependent stages. It is
   * the caller's to close, and should have a thread for each callback that may block at a time: a
   * callback that waits for one is a loss that nobody hears of yet. What it refuses runs in a
   * thread of the client's. It must not run tasks in the thread that gives them. By default these
   * are the callback threads of the {@link #scheduler}.
   */
  public RedlockBuilder callbackExecutor(Executor executor) {
    this.callbackExecutor = Objects.requireNonNull(executor, "callbackExecutor");
    return this;
  }

  /**
   * Replaces the source of owner values and of retry jitter, for simulations that can be repeated.
   * Not for production: whoever can guess an owner value can release its lock.
   */
  public RedlockBuilder random(SecureRandom replacement) {
    this.random = Objects.requireNonNull(replacement, "random");
    return this;
  }

  /**
   * The client. Asks the nodes who they are, and waits for that no longer than half a second; a
   * node that cannot be reached yet may join later. If it fails, the nodes are closed, where the
   * client was to close them.
   *
   * @throws IllegalArgumentException if there is no node, or two have the same name
   * @throws LockException if a node can never vote: the same server twice, a replica, or in strict
   *     mode one that warns of its settings, or that serves another fleet as well; or if the nodes
   *     belong to two fleets and it was not said which is meant. The nodes are closed if the client
   *     was to close them
   */
  public Redlock build() {
    Warmup.once();
    boolean ownTimers = scheduler == null;
    Scheduler used = scheduler == null ? Scheduler.create("lukko") : scheduler;
    Callbacks.ClosableExecutor callbacks =
        Callbacks.neverRefusing(
            callbackExecutor == null ? used.callbacks() : callbackExecutor, "lukko-rescue");
    Runnable endOfThreads =
        () -> {
          if (ownTimers) {
            used.close();
          }
          callbacks.close();
        };
    OpenReleases releases = new OpenReleases();
    List<LockNode> guarded =
        nodes.stream().<LockNode>map(node -> new GuardedNode(node, releases)).toList();
    try {
      checkNodes();
      if (ownTimers) { // The threads on which signals depend are had now, or never.
        used.schedule(() -> {}, 0);
        used.callbacks().execute(() -> {});
      }
      List<NodeStatus> seen = Admission.verified(guarded, strict, quarantine);
      Context context =
          new Context(
              guarded,
              releases,
              settings(),
              ticker,
              used,
              callbacks,
              new Events(listeners, callbacks),
              random == null ? Entropy.system() : Entropy.of(random));
      context.admission.begin(seen);
      return new Redlock(context, closeNodes, ownTimers, endOfThreads);
    } catch (RuntimeException | Error refused) {
      endOfThreads.run();
      if (closeNodes) {
        guarded.forEach(LockNode::close);
      }
      throw refused;
    }
  }

  private Settings settings() {
    return new Settings(
        driftFactor,
        driftBuffer.toNanos(),
        retryCount,
        retryDelay.toNanos(),
        retryJitter.toNanos(),
        extendWhenRemaining,
        nodeTimeout,
        minValidity.toNanos(),
        maxTtl.toNanos(),
        fleet,
        quarantine,
        returnByReading,
        strict,
        releaseOnClose,
        traceLeaks,
        description == null ? ProcessName.get() : description);
  }

  private void checkNodes() {
    if (nodes.isEmpty()) {
      throw new IllegalArgumentException("nodes is empty; a lock needs at least one node");
    }
    Set<String> names = new HashSet<>();
    for (LockNode node : nodes) {
      if (!names.add(node.name())) {
        throw new IllegalArgumentException(
            "nodes has "
                + node.name()
                + " twice; every node must be another server, since each has one vote");
      }
    }
  }

  private static Duration atLeast(String field, Duration value, Duration least) {
    Objects.requireNonNull(value, field);
    if (value.compareTo(least) < 0 || value.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          field + " is " + value + "; it must be between " + least + " and " + LONGEST);
    }
    return value;
  }
}
