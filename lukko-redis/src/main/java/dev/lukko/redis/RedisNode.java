package dev.lukko.redis;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock node on one Redis or Valkey server (version 6 or later), through the driver Lettuce.
 *
 * <p>Each verb is one script at the server and costs one round trip. Requests are sent once: there
 * is no replay after a reconnect, and a request that was under way when a connection broke has an
 * unknown outcome. A server that is down is not an error: the node tries to connect again, at least
 * once a second, and meanwhile answers at once that it has not been asked. Releases are the
 * exception to both: those with an open outcome (at most 1000) are sent again, on a new connection
 * before any other request about a lock.
 *
 * <p>A release is published on a channel of the resource; see {@link RedisKeyFormat}. Whoever waits
 * subscribes to it, on one more connection.
 *
 * <p><b>Servers that forget.</b> A small key, the marker, names the run of the server that may vote
 * and since when. Every grant looks at it in the same step, so that a server that was flushed, has
 * evicted it, or was restarted does not vote before a client has decided about it. The first
 * question on each connection is who the server is: a replica, and another server at an address
 * that has led to a different one before, get no requests. A node of a cluster has no marker, and
 * can be the only node of a client but not one of several.
 *
 * <p><b>Rights.</b> The server's user needs {@code eval}, {@code evalsha}, the commands inside the
 * scripts, {@code info}, {@code time}, {@code get} and {@code subscribe}; the keys {@code lukko:*}
 * and the channels {@code lukko:*} in the default format. With {@code config|get} the node can also
 * tell how the server persists.
 *
 * <p>Readers' entries are looked through one by one at the server with each request for their
 * resource, so they suit hundreds of readers at a time rather than many thousands.
 *
 * <p>Thread-safe. Stages complete in a thread of the driver, which must not be blocked. All nodes
 * of a process share their threads, daemons named {@code lukko-redis-...}, which end when the last
 * node is closed.
 */
public final class RedisNode implements LockNode {
  private static final long CLOSE_MILLIS = 3_000;
  private static final long MAX_TTL_MILLIS = Duration.ofDays(36_500).toMillis();

  private final String name;
  private final RedisKeyFormat format;
  private final long retentionMillis;
  private final Link link;
  private final ReleaseHints hints;
  private final Supplier<CompletableFuture<Void>> closeDriver;

  /** By owner: what may have to be sent again with its script's text. */
  private final ConcurrentMap<String, ScriptCall> granting = new ConcurrentHashMap<>();

  private final ConcurrentMap<String, ScriptCall> repairing = new ConcurrentHashMap<>();

  private final AtomicBoolean closed = new AtomicBoolean();

  RedisNode(
      String name,
      RedisKeyFormat format,
      Duration retention,
      Link link,
      ReleaseHints hints,
      Supplier<CompletableFuture<Void>> closeDriver) {
    this.name = name;
    this.format = format;
    this.retentionMillis = retention.toMillis();
    this.link = link;
    this.hints = hints;
    this.closeDriver = closeDriver;
  }

  /** A builder with the default settings. */
  public static RedisNodeBuilder builder() {
    return new RedisNodeBuilder();
  }

  /**
   * Connects with the default settings, see {@link RedisNodeBuilder#connect(String)}.
   *
   * @param url {@code redis://host:port/db}, {@code rediss://} with TLS, or {@code
   *     redis-socket:///path}; user and password before the host, if any
   */
  public static RedisNode connect(String url) {
    return builder().connect(url);
  }

  /** Connects with the default settings, see {@link RedisNodeBuilder#connect(RedisURI)}. */
  public static RedisNode connect(RedisURI uri) {
    return builder().connect(uri);
  }

  /**
   * Connects with the default settings through a client of the caller's, see {@link
   * RedisNodeBuilder#connect(RedisClient, RedisURI)}.
   */
  public static RedisNode connect(RedisClient client, RedisURI uri) {
    return builder().connect(client, uri);
  }

  /**
   * Connects to several servers at the same time with the default settings, see {@link
   * RedisNodeBuilder#connectAll}.
   */
  public static List<RedisNode> connectAll(String... urls) {
    return builder().connectAll(List.of(urls));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    LockEntry entry = request.entry();
    ScriptCall call = grantCall(request);
    link.noteTtl(request.ttlMillis());
    if (!hints.isIdle()) {
      entry.resources().forEach(resource -> hints.asking(format.channel(resource)));
    }
    return create(
        call, granting, list -> Replies.grant(list, call.keys(), link::statusOf), fault -> fault);
  }

  private ScriptCall grantCall(GrantRequest request) {
    LockEntry entry = request.entry();
    FairTicket ticket = request.ticket();
    String ttl = Long.toString(storable(request.ttlMillis()));
    String proposal = Long.toString(request.proposal());
    String keep = Long.toString(keepMillis(request.ttlMillis()));
    if (isCommon(entry) && ticket == null) {
      return ScriptCall.onMarker(
          Script.GRANT,
          entry.owner(),
          format.marker(),
          1,
          Marker::voting,
          commonKeys(entry),
          entry.owner(),
          "", // for the marker
          ttl,
          proposal,
          keep);
    }
    List<String> keys = keys(entry);
    List<String> arguments = arguments(entry);
    arguments.addAll(List.of("", ttl, proposal, keep)); // the first for the run of the server
    if (ticket != null) {
      entry.resources().forEach(resource -> keys.add(format.line(resource)));
      arguments.add(ticket.waiter());
      arguments.add(Long.toString(ticket.order()));
      arguments.add(Long.toString(ticket.leaseMillis()));
    }
    return ScriptCall.onMarker(
        Script.GRANT, entry.owner(), format.marker(), 3, run -> run, array(keys), array(arguments));
  }

  /** Whether the scripts have a short form for it. */
  private static boolean isCommon(LockEntry entry) {
    return !entry.shared() && entry.resources().size() == 1;
  }

  private String[] commonKeys(LockEntry entry) {
    String resource = entry.resources().get(0);
    return new String[] {format.entry(resource), format.counter(resource)};
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    ScriptCall call =
        call(Script.CONFIRM, entry, Long.toString(counter), Long.toString(retentionMillis));
    return reply(link.send(call), Replies::confirm, fault -> fault);
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    String ttl = Long.toString(storable(ttlMillis));
    String keep = Long.toString(keepMillis(ttlMillis));
    ScriptCall call =
        isCommon(entry)
            ? new ScriptCall(
                Script.EXTEND, entry.owner(), commonKeys(entry), entry.owner(), ttl, keep)
            : call(Script.EXTEND, entry, ttl, keep);
    link.noteTtl(ttlMillis);
    return reply(link.send(call), list -> Replies.extend(list, call.keys()), fault -> fault);
  }

  @Override
  public CompletionStage<ExtendReply> repair(LockEntry entry, long ttlMillis, long counter) {
    ScriptCall call =
        call(
            Script.REPAIR,
            entry,
            Long.toString(storable(ttlMillis)),
            Long.toString(keepMillis(ttlMillis)),
            Long.toString(counter));
    link.noteTtl(ttlMillis);
    return create(call, repairing, list -> Replies.extend(list, call.keys()), fault -> fault);
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    withdraw(granting.get(entry.owner()));
    withdraw(repairing.get(entry.owner()));
    return reply(link.sendRelease(releaseCall(entry)), Replies::release, fault -> fault);
  }

  private ScriptCall releaseCall(LockEntry entry) {
    if (isCommon(entry)) {
      String resource = entry.resources().get(0);
      String[] key = {format.entry(resource)};
      return new ScriptCall(
          Script.RELEASE, entry.owner(), key, entry.owner(), format.channel(resource));
    }
    return call(Script.RELEASE, entry, channels(entry));
  }

  /** Sends it once and waits for nothing: a place that is not given up ends by its own lease. */
  @Override
  public void leave(LockEntry entry, FairTicket ticket) {
    String[] lines = entry.resources().stream().map(format::line).toArray(String[]::new);
    List<String> arguments = arguments(entry);
    arguments.add(ticket.waiter());
    arguments.addAll(List.of(channels(entry)));
    link.send(new ScriptCall(Script.LEAVE, entry.owner(), lines, array(arguments)));
  }

  /**
   * {@inheritDoc}
   *
   * <p>The identity is the server's run id, which every start makes anew. An address that leads to
   * a server other than before, one that was up all the time, makes the node unfit until the former
   * server is back or the node is made anew.
   */
  @Override
  public CompletionStage<NodeStatus> status() {
    return link.status();
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, long quarantineMillis) {
    String run = seen.identity().orElse("");
    String[] marker = {format.marker()};
    String state = seen.state() == NodeStatus.State.RESTARTED ? Marker.RESTARTED : Marker.UNMARKED;
    ScriptCall call =
        new ScriptCall(
            Script.ADMIT, "", marker, "", "", "0", run, state, Long.toString(quarantineMillis));
    CompletableFuture<List<Object>> sent = seen.awaitsAdmission() ? link.sendTo(run, call) : null;
    return sent == null
        ? status()
        : sent.handle((done, error) -> done).thenCompose(done -> status());
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    String[] keys = {format.entry(resource), format.counter(resource)};
    ScriptCall call = new ScriptCall(Script.INSPECT, "", keys, "", "", "1");
    return link.send(call).thenApply(list -> Replies.inspection(list, keys[0]));
  }

  /**
   * {@inheritDoc}
   *
   * <p>Hints come by a connection of their own, one for all resources, made with the first watch
   * and again whenever it breaks. They are called in a thread of the driver.
   */
  @Override
  public Watch watch(String resource, Runnable hint) {
    return hints.watch(format.channel(resource), hint);
  }

  private <T> CompletionStage<T> create(
      ScriptCall call,
      ConcurrentMap<String, ScriptCall> underWay,
      Function<List<Object>, T> read,
      Function<NodeFault, T> fail) {
    underWay.put(call.owner(), call);
    return link.send(call)
        .handle(
            (list, error) -> {
              underWay.remove(call.owner(), call);
              return replyOf(list, error, read, fail);
            });
  }

  /** A call that waits to be sent again with its script's text must not come after a release. */
  private static void withdraw(@Nullable ScriptCall call) {
    if (call != null) {
      call.withdraw();
    }
  }

  private ScriptCall call(Script script, LockEntry entry, String... rest) {
    List<String> arguments = arguments(entry);
    arguments.addAll(List.of(rest));
    return new ScriptCall(script, entry.owner(), array(keys(entry)), array(arguments));
  }

  private List<String> keys(LockEntry entry) {
    List<String> keys = new ArrayList<>(3 * entry.resources().size());
    entry.resources().forEach(resource -> keys.add(format.entry(resource)));
    entry.resources().forEach(resource -> keys.add(format.counter(resource)));
    return keys;
  }

  /** What every script gets. */
  private static List<String> arguments(LockEntry entry) {
    List<String> arguments = new ArrayList<>(10);
    arguments.add(entry.owner());
    arguments.add(entry.shared() ? "shared" : "exclusive");
    arguments.add(Integer.toString(entry.resources().size()));
    return arguments;
  }

  private String[] channels(LockEntry entry) {
    return entry.resources().stream().map(format::channel).toArray(String[]::new);
  }

  private static String[] array(List<String> list) {
    return list.toArray(String[]::new);
  }

  /** A counter outlives its entry in any case. */
  private long keepMillis(long ttlMillis) {
    return Math.max(retentionMillis, storable(ttlMillis));
  }

  /** A server refuses times whose end it cannot count. */
  private static long storable(long ttlMillis) {
    return Math.min(ttlMillis, MAX_TTL_MILLIS);
  }

  private static <T> CompletionStage<T> reply(
      CompletableFuture<List<Object>> sent,
      Function<List<Object>, T> read,
      Function<NodeFault, T> fail) {
    return sent.handle((list, error) -> replyOf(list, error, read, fail));
  }

  private static <T> T replyOf(
      @Nullable List<Object> list,
      @Nullable Throwable error,
      Function<List<Object>, T> read,
      Function<NodeFault, T> fail) {
    if (list == null) {
      return fail.apply(
          Faults.ofRequest(error == null ? new IllegalStateException("no reply") : error));
    }
    try {
      return read.apply(list);
    } catch (RuntimeException garbage) {
      return fail.apply(Faults.ofRequest(garbage));
    }
  }

  /**
   * Ends the connection and, with the last node of the process, the threads; waits up to 3 s for
   * them, but not in a thread of the driver. A client that the caller handed in stays open.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    CompletableFuture<Void> ended =
        CompletableFuture.allOf(link.close(), hints.close())
            .exceptionally(error -> null)
            .thenCompose(done -> closeDriver.get());
    if (Thread.currentThread() instanceof FastThreadLocalThread) {
      return; // it would wait for itself
    }
    try {
      ended.get(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      System.getLogger(RedisNode.class.getName())
          .log(System.Logger.Level.WARNING, "the driver of " + name + " did not close in time", e);
    }
  }

  @Override
  public String toString() {
    return "RedisNode[" + name + (link.isConnected() ? "]" : ", not connected]");
  }
}
