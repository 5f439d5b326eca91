package dev.lukko.mongodb;

import com.mongodb.client.MongoClient;
import dev.lukko.release.OpenEntries;
import dev.lukko.release.OpenEntry;
import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import dev.lukko.time.Uninterrupted;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * A lock node on MongoDB: a replica set, or a single server.
 *
 * <p>Each resource is one document, with its holder or its readers, when their entries end by the
 * server's clock, and a counter that survives release. Writes are acknowledged by a majority and in
 * the journal, whatever the client is set to; an index cleans up what nobody has used for long.
 *
 * <pre>{@code
 * LockClient locks = Redlock.over(MongoNode.over(mongoClient));
 * }</pre>
 *
 * <p>Blocking calls run on daemon threads named {@code lukko-mongodb-...}, and stages complete in
 * one of these threads. A request that was not answered within the request timeout is given up;
 * every stage completes. Instances are thread-safe.
 *
 * <p>Readers' entries ({@link Capability#SHARED}) work, fair lines and hints do not. A router of a
 * sharded cluster is refused, since its clock is not that of the shards.
 *
 * @see MongoNodeBuilder
 */
public final class MongoNode implements LockNode {
  static final String RELEASE = "release";

  private static final System.Logger LOG = System.getLogger(MongoNode.class.getName());
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final long MAX_GRACE_MILLIS = 500;

  private final String name;
  private final MongoSettings settings;
  private final Ticker ticker;
  private final Runnable closeClient;
  private final Scheduler scheduler;
  private final Calls calls;
  private final MongoStore store;
  private final Verbs verbs;
  private final OpenEntries open;
  private final Releases releases;
  private final AtomicBoolean closed = new AtomicBoolean();

  MongoNode(
      MongoClient client,
      Runnable closeClient,
      String name,
      MongoSettings settings,
      Ticker ticker) {
    String threadName = "lukko-mongodb-" + NUMBER.incrementAndGet();
    this.name = name;
    this.settings = settings;
    this.ticker = ticker;
    this.closeClient = closeClient;
    this.store = new MongoStore(client, settings);
    this.scheduler = Scheduler.create(threadName);
    this.calls = new Calls(threadName, settings, scheduler);
    this.verbs = new Verbs(store, calls);
    this.open = new OpenEntries(ticker);
    this.releases = new Releases(ticker, scheduler, this::sendRelease);
    boolean ready = false;
    try {
      firstContact();
      ready = true;
    } finally {
      if (!ready) {
        close();
      }
    }
  }

  /**
   * A node with the default settings on this client, which stays open; see {@link
   * MongoNodeBuilder#build}.
   */
  public static MongoNode over(MongoClient client) {
    return builder(client).build();
  }

  /**
   * A node with the default settings on connections of its own; see {@link MongoNodeBuilder#build}.
   *
   * @param url {@code mongodb://...} or {@code mongodb+srv://...}, with what is needed to log in
   */
  public static MongoNode connect(String url) {
    return builder(url).build();
  }

  /** A builder for a node that works with this client, and does not close it. */
  public static MongoNodeBuilder builder(MongoClient client) {
    return new MongoNodeBuilder(client);
  }

  /**
   * A builder for a node with connections of its own.
   *
   * @param url {@code mongodb://...} or {@code mongodb+srv://...}; its database, if it names one,
   *     is the one of the locks
   * @throws IllegalArgumentException if it is no such address
   */
  public static MongoNodeBuilder builder(String url) {
    return new MongoNodeBuilder(MongoAddress.of(url));
  }

  /** An unsuitable collection is refused here; a server that is down is not: it may come up. */
  private void firstContact() {
    NodeFault outcome =
        this.<NodeFault>submit(
                "connect",
                call -> {
                  var unused = store.read(call, List.of());
                  return new Failed("");
                },
                fault -> fault)
            .join();
    if (outcome.cause() instanceof UnsuitableCollectionException unsuitable) {
      throw new IllegalStateException(unsuitable.getMessage(), unsuitable);
    }
    if (!outcome.detail().isEmpty()) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} cannot be reached yet, the node joins when it can: {1}",
          name,
          outcome.detail());
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.of(Capability.SHARED);
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    LockEntry entry = request.entry();
    Failed unfit = Storable.unfit(entry);
    if (unfit != null) {
      return CompletableFuture.completedFuture(unfit);
    }
    Call<GrantReply> call =
        call("grant", entry, running -> verbs.grant(running, request), fault -> fault);
    OpenEntry opened = open.granting(entry, call, request.ttlMillis());
    calls.submit(call);
    return call.reply()
        .thenApply(
            reply -> {
              open.granted(opened, reply, request.ttlMillis());
              return reply;
            });
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    Failed unfit = Storable.unfit(entry, counter);
    return unfit != null
        ? CompletableFuture.completedFuture(unfit)
        : submitted(
            this.<ConfirmReply>call(
                "confirm", entry, call -> verbs.confirm(call, entry, counter), fault -> fault));
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    Failed unfit = Storable.unfit(entry);
    if (unfit != null) {
      return CompletableFuture.completedFuture(unfit);
    }
    return submitted(
            this.<ExtendReply>call(
                "extend", entry, call -> verbs.extend(call, entry, ttlMillis), fault -> fault))
        .thenApply(
            reply -> {
              open.extended(entry, reply, ttlMillis);
              return reply;
            });
  }

  @Override
  public CompletionStage<ExtendReply> repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis) {
    Failed unfit = Storable.unfit(entry, counter);
    if (unfit != null) {
      return CompletableFuture.completedFuture(unfit);
    }
    Call<ExtendReply> call =
        call(
            "repair",
            entry,
            running -> verbs.repair(running, entry, ttlMillis, counter, lastMillis),
            fault -> fault);
    OpenEntry opened = open.repairing(entry, call, ttlMillis);
    return submitted(call)
        .thenApply(
            reply -> {
              open.repaired(opened, ttlMillis);
              return reply;
            });
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    Failed unfit = Storable.unfit(entry);
    return unfit != null
        ? CompletableFuture.completedFuture(unfit)
        : releases.send(entry, open.releasing(entry));
  }

  private CompletionStage<ReleaseReply> sendRelease(LockEntry entry) {
    return submitted(call(RELEASE, entry, call -> verbs.release(call, entry), fault -> fault));
  }

  /**
   * Whether the server can be reached and may vote: not as a secondary, and not as a router of a
   * sharded cluster. A weaker write concern than the default gets a warning.
   */
  @Override
  public CompletionStage<NodeStatus> status() {
    return submit("status", this::statusNow, MongoNode::unreachable);
  }

  private static NodeStatus unreachable(NodeFault fault) {
    return fault.cause() instanceof UnsuitableCollectionException
        ? new NodeStatus(
            NodeStatus.State.UNFIT, Optional.empty(), fault.detail(), Duration.ZERO, List.of())
        : NodeStatus.unreachable(fault.detail());
  }

  private NodeStatus statusNow(Call<?> call) {
    String unfit = store.unfit(call);
    if (unfit != null) {
      return new NodeStatus(
          NodeStatus.State.UNFIT, Optional.empty(), unfit, Duration.ZERO, List.of());
    }
    store.lookAnew();
    Snapshot seen = store.read(call, List.of());
    return NodeStatus.remembering(
        seen.fleet().identity(),
        store.warnings(call),
        Set.of(),
        seen.fleet().memory(seen.nowMillis()));
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
    FleetMemory memory = seen.memory();
    return submit(
        "admit",
        call -> {
          Snapshot now = store.read(call, List.of());
          Change write = now.fleet().admission(memory, change, now.nowMillis());
          if (write != null) {
            var unused = store.write(call, write); // If not, another client has been faster.
          }
          return statusNow(call);
        },
        MongoNode::unreachable);
  }

  @Override
  public CompletionStage<Long> highestCounter() {
    return question("highest counter", store::highestCounter);
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    return question(
        "inspect",
        call -> {
          Snapshot seen = verbs.read(call, List.of(resource));
          return Inspections.of(seen.documents().get(0), seen.nowMillis());
        });
  }

  private <T> CompletionStage<T> question(String what, Call.Work<T> work) {
    return submit(
        what,
        work,
        fault -> {
          throw new CompletionException(
              new IllegalStateException(name + ": " + fault.detail(), fault.cause()));
        });
  }

  /** How many releases wait to be sent again. */
  int keptReleases() {
    return releases.size();
  }

  /** How many entries the server may hold for this node's clients. */
  int openEntries() {
    return open.size();
  }

  /** Whether no request is on its way. */
  boolean isQuiet() {
    return calls.isQuiet();
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    long graceMillis = Math.min(MAX_GRACE_MILLIS, settings.requestTimeoutMillis());
    releases.close();
    boolean ended = calls.close(graceMillis);
    CompletableFuture<Boolean> clientClosed = new CompletableFuture<>();
    scheduler.execute(
        () -> {
          try {
            closeClient.run();
          } finally {
            clientClosed.complete(true);
          }
        });
    Uninterrupted.await(clientClosed, graceMillis * 1_000_000L);
    if (!ended) {
      calls.closeNow();
    }
    scheduler.close();
  }

  private <T> Call<T> call(
      String verb, LockEntry entry, Call.Work<T> work, Function<NodeFault, T> fault) {
    return new Call<>(verb, entry.owner(), work, fault, ticker, timeoutNanos());
  }

  private <T> CompletableFuture<T> submit(
      String verb, Call.Work<T> work, Function<NodeFault, T> fault) {
    return submitted(new Call<>(verb, null, work, fault, ticker, timeoutNanos()));
  }

  private <T> CompletableFuture<T> submitted(Call<T> call) {
    calls.submit(call);
    return call.reply();
  }

  private long timeoutNanos() {
    return settings.requestTimeoutMillis() * 1_000_000L;
  }
}
