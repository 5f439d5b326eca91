package dev.lukko.testkit;

import dev.lukko.LockClient;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * What must be true after every test of a lock, whatever the test was about: nothing is left.
 *
 * <pre>{@code
 * @RegisterExtension final LockInvariants invariants = new LockInvariants();
 * final ManualTime time = invariants.time(new ManualTime());
 * final FaultyNode node = invariants.node(new InMemoryNode("n1", time));
 * final LockClient locks =
 *     invariants.client(Redlock.builder().node(node).ticker(time).scheduler(time).build());
 * }</pre>
 *
 * <p>At the end it heals the nodes, closes the clients, and then finds: no entry on any node for
 * any name that was ever asked for, no open watch, no timer or callback that waits in manual time,
 * no thread named {@code lukko...} that was not there before. An instance serves one test. Not
 * thread-safe.
 */
public final class LockInvariants implements AfterEachCallback {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration LONGEST_NODE_TIMEOUT = Duration.ofSeconds(1);

  private final Set<Thread> threadsBefore = Set.copyOf(liveThreads());
  private final List<FaultyNode> faulty = new ArrayList<>();
  private final List<RecordingNode> nodes = new ArrayList<>();
  private final List<LockClient> clients = new ArrayList<>();
  private final List<AutoCloseable> others = new ArrayList<>();
  private @Nullable ManualTime time;
  private Duration settlingTime = LONGEST_NODE_TIMEOUT;

  /** Invariants of a test that begins now. */
  public LockInvariants() {}

  /** Watches manual time. */
  public ManualTime time(ManualTime watched) {
    time = watched;
    return watched;
  }

  /**
   * Sets how much manual time the requests under way have to end after the clients are closed: the
   * node timeout of the clients. Default: 1 s, the longest that is not set by hand.
   */
  public void settlingTime(Duration longestNodeTimeout) {
    settlingTime = longestNodeTimeout;
  }

  /**
   * Watches a node, and puts switches for faults in front of it. It stays open, whoever closes it,
   * until everything was looked at.
   */
  public FaultyNode node(LockNode watched) {
    RecordingNode recording = new RecordingNode(watched);
    nodes.add(recording);
    FaultyNode switches = new FaultyNode(recording);
    faulty.add(switches);
    return switches;
  }

  /** Closes a client at the end. */
  public <C extends LockClient> C client(C client) {
    clients.add(client);
    return client;
  }

  /** Closes something else at the end, before the clients. */
  public <C extends AutoCloseable> C closing(C other) {
    others.add(other);
    return other;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    verify();
  }

  /**
   * Ends everything and looks what is left.
   *
   * @throws AssertionError if anything is, with all that was found
   */
  public void verify() {
    List<String> found = new ArrayList<>();
    faulty.forEach(FaultyNode::heal);
    closeAll(others, found);
    closeAll(clients, found);
    faulty.forEach(FaultyNode::heal);
    ManualTime clock = time;
    if (clock != null) {
      clock.runDue();
    }
    Duration patience = clock == null ? PATIENCE : Duration.ZERO;
    nodes.forEach(node -> findEntries(node, patience, found));
    for (RecordingNode node : nodes) {
      if (node.openWatches() != 0) {
        found.add(node.name() + " has " + node.openWatches() + " open watches");
      }
      node.closeNode();
    }
    if (clock != null) {
      clock.advance(settlingTime);
      if (clock.pending() != 0) {
        found.add(clock.pending() + " timers or callbacks wait in manual time");
      }
    }
    if (!await(PATIENCE, () -> threadsLeft().isEmpty())) {
      found.add("threads are left: " + threadsLeft());
    }
    if (!found.isEmpty()) {
      throw new AssertionError("left behind: " + String.join("; ", found));
    }
  }

  private static void closeAll(List<? extends AutoCloseable> all, List<String> found) {
    Collections.reverse(all);
    for (AutoCloseable each : all) {
      try {
        each.close();
      } catch (Exception failure) {
        found.add("closing " + each + " threw " + failure);
      }
    }
  }

  private static void findEntries(RecordingNode node, Duration patience, List<String> found) {
    for (String resource : node.resources()) {
      Supplier<Inspection> look = () -> inspect(node, resource);
      if (!await(patience, () -> look.get().holders().isEmpty())) {
        found.add(node.name() + " holds " + resource + ": " + look.get().holders());
      }
    }
  }

  private static Inspection inspect(LockNode node, String resource) {
    try {
      return node.inspect(resource)
          .toCompletableFuture()
          .get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException failure) {
      throw new AssertionError("cannot look at " + resource + " on " + node.name(), failure);
    }
  }

  private List<String> threadsLeft() {
    return liveThreads().stream()
        .filter(thread -> thread.getName().startsWith("lukko") && !threadsBefore.contains(thread))
        .map(Thread::getName)
        .toList();
  }

  private static List<Thread> liveThreads() {
    ThreadGroup root = Thread.currentThread().getThreadGroup();
    for (ThreadGroup parent = root; parent != null; parent = parent.getParent()) {
      root = parent;
    }
    Thread[] threads = new Thread[root.activeCount() + 64];
    return List.of(Arrays.copyOf(threads, root.enumerate(threads)));
  }

  /** Real servers and threads need a moment; in manual time the first look decides. */
  private static boolean await(Duration patience, BooleanSupplier condition) {
    long startNanos = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - startNanos >= patience.toNanos()) {
        return false;
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    return true;
  }
}
