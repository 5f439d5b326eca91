package dev.lukko.redis.protocol;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.redis.protocol.Standing.Known;
import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.Unknown;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The way to one server: a {@link Wire} while there is one, and the attempts to make a new one.
 *
 * <p>Before anything else, a new connection is used to ask the server who it is. One that must not
 * vote is left again, and tried anew as one that is down.
 *
 * <p>Reconnecting is done here and not by the driver, because a driver that reconnects sends again
 * what was under way, and because the open releases must be the first requests on a new connection.
 */
public final class RedisLink implements Link {
  private static final System.Logger LOG = System.getLogger(RedisLink.class.getName());
  private static final long MIN_BACKOFF_MILLIS = 10;
  private static final long MAX_BACKOFF_MILLIS = 1_000;
  private static final long RESEND_MILLIS = 500;
  private static final long LAST_TRY_MILLIS = 1_000;
  private static final String FAILOVER =
      "its address comes from Sentinel: a failover promotes a replica that may lack the latest"
          + " locks, and two may then hold the same lock; a quorum of independent servers has no"
          + " such gap, and a fence refuses the stale holder";
  private static final Place NOWHERE = new Place("", 0);

  /** What a server that belongs to a cluster leaves to the others. */
  public interface Cluster {
    /** A release that must go to another server. */
    void onMisplaced(ScriptCall release);

    /** The server is a replica of another one. */
    void onReplica(Place master);
  }

  private final Connector connector;
  private final boolean wanders;
  private final @Nullable Cluster cluster;
  private final String name;
  private final String markerKey;
  private final Duration connectTimeout;
  private final Duration commandTimeout;
  private final Scheduler timers;
  private final CompletableFuture<Void> firstTry = new CompletableFuture<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final PendingReleases pending = new PendingReleases();

  // guarded by the lock, wire also read without it
  private volatile @Nullable Wire wire;
  private volatile NodeFault down = new Failed("not connected: the first connection is being made");
  private @Nullable Wire joining;
  private Known known = Known.NOBODY;
  private volatile long longestTtlNanos; // guarded by the lock, also read without it
  private long backoffMillis = MIN_BACKOFF_MILLIS;
  private boolean outageIsLogged;
  private boolean resendIsScheduled;
  private boolean connecting;
  private boolean lastTryIsMade;
  private boolean closed;

  /**
   * No connection yet.
   *
   * @param wanders whether the address may lead to another server than before, as Sentinel's does
   * @param cluster the cluster as part of which the server is used, or null
   * @param name the node's name in messages
   */
  public RedisLink(
      Connector connector,
      boolean wanders,
      @Nullable Cluster cluster,
      Scheduler timers,
      String name,
      String markerKey,
      Duration connectTimeout,
      Duration commandTimeout) {
    this.connector = connector;
    this.wanders = wanders;
    this.cluster = cluster;
    this.timers = timers;
    this.name = name;
    this.markerKey = markerKey;
    this.connectTimeout = connectTimeout;
    this.commandTimeout = commandTimeout;
  }

  /** Begins to connect, and goes on until {@link #close()}. */
  public void connect() {
    lock.lock();
    try {
      connecting = true;
    } finally {
      lock.unlock();
    }
    try {
      var unused = connector.connect().toCompletableFuture().whenComplete(this::onTried);
    } catch (RuntimeException e) {
      onTried(null, e);
    }
  }

  @Override
  public CompletableFuture<Void> firstTry() {
    return firstTry;
  }

  @Override
  public boolean isConnected() {
    return wire != null;
  }

  @Override
  public NativeSupport natives() {
    Wire current = wire;
    return current == null ? NativeSupport.NONE : current.natives();
  }

  @Override
  public void noteTtl(long ttlMillis) {
    long ttlNanos = TimeUnit.MILLISECONDS.toNanos(ttlMillis);
    if (ttlNanos <= longestTtlNanos) {
      return;
    }
    lock.lock();
    try {
      longestTtlNanos = Math.max(longestTtlNanos, ttlNanos);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletableFuture<List<Object>> send(ScriptCall call) {
    Wire current = wire;
    return current == null
        ? CompletableFuture.failedFuture(new NodeFaultException(down))
        : current.send(call);
  }

  @Override
  public CompletableFuture<List<Object>> sendRelease(ScriptCall call) {
    PendingRelease release = new PendingRelease(call);
    lock.lock();
    try {
      Wire current = wire;
      if (current != null) {
        return sendOn(current, release);
      }
      if (!closed) {
        pending.keep(release);
      }
      NodeFault kept = new Unknown(down.detail() + "; the release is kept and sent later");
      return CompletableFuture.failedFuture(new NodeFaultException(closed ? down : kept));
    } finally {
      lock.unlock();
    }
  }

  private void sendPending(Wire current) {
    for (PendingRelease release : pending.takeAll()) {
      var unused =
          sendOn(current, release)
              .whenComplete(
                  (value, error) -> {
                    if (error != null && isMoved(error)) {
                      misplaced(List.of(release));
                    }
                  });
    }
  }

  private CompletableFuture<List<Object>> sendOn(Wire current, PendingRelease release) {
    // Whoever learns of a failure, and perhaps closes the node then, finds the release kept.
    return current
        .send(release.call())
        .whenComplete(
            (value, error) -> {
              if (error != null) {
                onReleaseFault(release, Faults.ofRequest(error));
              }
            });
  }

  private static boolean isMoved(Throwable error) {
    return Redirect.of(error, NOWHERE) != null;
  }

  private void misplaced(List<PendingRelease> releases) {
    if (cluster != null) {
      releases.forEach(release -> cluster.onMisplaced(release.call()));
    }
  }

  private void onReleaseFault(PendingRelease release, NodeFault fault) {
    if (fault.cause() != null && isMoved(fault.cause())) {
      return; // this server has nothing of it, nor will it ever
    }
    lock.lock();
    try {
      long nowNanos = System.nanoTime();
      if (fault.cause() instanceof ServerErrorException) {
        release.refused(nowNanos);
      }
      if (!ended.isDone() && !release.isPointless(nowNanos, longestTtlNanos)) {
        pending.keep(release);
        if (!closed) {
          scheduleResend();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void scheduleResend() {
    if (!resendIsScheduled) {
      resendIsScheduled = true;
      later(this::resend, RESEND_MILLIS);
    }
  }

  private void resend() {
    lock.lock();
    try {
      resendIsScheduled = false;
      Wire current = wire;
      if (current != null) {
        sendPending(current);
      }
    } finally {
      lock.unlock();
    }
  }

  private void onTried(@Nullable ServerConnection connection, @Nullable Throwable error) {
    Wire fresh = null;
    lock.lock();
    try {
      connecting = false;
      if (connection == null) {
        onDown(error == null ? new Failed("not connected") : Faults.ofConnecting(error));
      } else {
        fresh = new Wire(connection, timers, commandTimeout);
        if (closed && pending.isEmpty()) {
          endBehind(fresh);
          return;
        }
        joining = fresh;
      }
    } finally {
      lock.unlock();
    }
    if (fresh == null) {
      firstTry.complete(null);
    } else {
      Wire examined = fresh;
      var unused =
          fresh
              .survey(markerKey, connectTimeout)
              .whenComplete((survey, fault) -> onSurveyed(examined, survey, fault));
    }
  }

  /** Nothing else was asked of this server yet: first it is clear who it is. */
  private void onSurveyed(Wire fresh, @Nullable Survey survey, @Nullable Throwable error) {
    List<PendingRelease> left = List.of();
    Place master = survey == null ? null : survey.facts().master();
    lock.lock();
    try {
      joining = null;
      if (closed) {
        if (survey != null && survey.facts().unfit().isEmpty()) {
          sendLast(fresh);
        } else {
          var unused = fresh.close();
          giveUp();
        }
      } else if (survey == null) {
        var unused = fresh.close();
        onDown(error == null ? new Failed("not connected") : notConnected(Faults.ofRequest(error)));
      } else {
        NodeStatus status = Standing.of(survey, wanders ? Known.NOBODY : known);
        if (status.state() == NodeStatus.State.UNFIT) {
          var unused = fresh.close();
          onDown(new NotVoting(status));
          if (cluster != null && master != null) {
            left = pending.takeAll();
          }
        } else {
          onConnected(fresh, survey.facts());
        }
      }
    } finally {
      lock.unlock();
      firstTry.complete(null);
    }
    if (cluster != null && master != null) {
      cluster.onReplica(master);
      misplaced(left);
    }
  }

  /** A request was not sent, whatever became of the question who the server is. */
  private static Failed notConnected(NodeFault fault) {
    return fault instanceof Failed failed
        ? failed
        : new Failed("not connected: " + fault.detail(), fault.cause());
  }

  private void onConnected(Wire fresh, ServerFacts server) {
    fresh.onDisconnected(() -> onLost(fresh));
    // Before anybody else can use the connection: no new grant overtakes an old release.
    sendPending(fresh);
    wire = fresh;
    backoffMillis = MIN_BACKOFF_MILLIS;
    if (!known.run().equals(server.run()) && !server.note().isEmpty()) {
      LOG.log(INFO, "{0}: {1}", name, server.note());
    }
    known = new Known(server.run(), fresh.lastReplyNanos());
    if (outageIsLogged) {
      outageIsLogged = false;
      LOG.log(INFO, "{0} is connected", name);
    }
    if (!fresh.isOpen()) {
      onLost(fresh); // it ended before the listener was there
    }
  }

  private void onLost(Wire lost) {
    lock.lock();
    try {
      var unused = lost.close();
      if (wire == lost) {
        known = new Known(known.run(), lost.lastReplyNanos());
        onDown(new Failed("not connected: the connection was lost"));
      }
    } finally {
      lock.unlock();
    }
  }

  private void onDown(NodeFault reason) {
    wire = null;
    if (closed) {
      giveUp();
      return;
    }
    down = reason;
    if (!outageIsLogged) {
      outageIsLogged = true;
      LOG.log(WARNING, "{0} cannot be reached, trying again: {1}", name, reason.detail());
    }
    later(this::reconnect, backoffMillis);
    backoffMillis = Math.min(MAX_BACKOFF_MILLIS, backoffMillis * 2);
  }

  private void later(Runnable task, long delayMillis) {
    timers.schedule(task, TimeUnit.MILLISECONDS.toNanos(delayMillis));
  }

  private void reconnect() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
    } finally {
      lock.unlock();
    }
    connect();
  }

  @Override
  public CompletableFuture<NodeStatus> status() {
    Wire current = wire;
    if (current == null) {
      return CompletableFuture.completedFuture(statusWithout(down));
    }
    return current
        .survey(markerKey, commandTimeout)
        .thenApply(survey -> warned(Standing.of(survey, Known.NOBODY))) // one wire, one server
        .exceptionally(error -> statusWithout(Faults.ofRequest(error)));
  }

  private NodeStatus statusWithout(NodeFault fault) {
    return warned(
        fault instanceof NotVoting unfit ? unfit.status() : NodeStatus.unreachable(fault.detail()));
  }

  private NodeStatus warned(NodeStatus status) {
    if (!wanders) {
      return status;
    }
    List<String> warnings = new ArrayList<>(status.warnings());
    warnings.add(FAILOVER);
    return new NodeStatus(
        status.state(),
        status.identity(),
        status.detail(),
        status.remaining(),
        warnings,
        status.traits());
  }

  @Override
  public @Nullable CompletableFuture<List<Object>> sendTo(String run, ScriptCall call) {
    Wire current = wire;
    ServerFacts server = current == null ? null : current.server();
    return current != null && server != null && server.run().equals(run)
        ? current.send(call)
        : null;
  }

  @Override
  public NodeStatus statusOf(String marker, long serverMillis) {
    Wire current = wire;
    ServerFacts server = current == null ? null : current.server();
    return server == null
        ? NodeStatus.unreachable(down.detail())
        : Standing.ofMarker(server, marker, serverMillis);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Releases that wait to be sent again are sent behind all else, and their replies are waited
   * for. If there is no connection, or it breaks, one more is made for them. All of that takes no
   * longer than a second.
   */
  @Override
  public CompletableFuture<Void> close() {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        down = new Failed("closed: the node " + name + " is closed");
        Wire current = wire;
        wire = null;
        if (!pending.isEmpty()) {
          later(this::giveUp, LAST_TRY_MILLIS);
          sendLast(current);
        } else if (current != null) {
          endBehind(current);
        } else {
          giveUp();
        }
      }
    } finally {
      lock.unlock();
      firstTry.complete(null);
    }
    return ended;
  }

  /** Sends what waits, on a new connection if there is none. */
  private void sendLast(@Nullable Wire current) {
    if (current == null) {
      lastTryIsMade = true;
      if (!connecting && joining == null) {
        connect();
      }
      return;
    }
    joining = current;
    CompletableFuture<?>[] replies =
        pending.takeAll().stream()
            .map(release -> sendOn(current, release))
            .toArray(CompletableFuture<?>[]::new);
    var unused =
        CompletableFuture.allOf(replies).whenComplete((done, error) -> onLastReplies(current));
  }

  private void onLastReplies(Wire current) {
    lock.lock();
    try {
      if (joining != current) {
        return; // given up meanwhile
      }
      if (pending.isEmpty() || lastTryIsMade) {
        giveUp();
      } else {
        joining = null;
        var unused = current.close();
        sendLast(null);
      }
    } finally {
      lock.unlock();
    }
  }

  private void endBehind(Wire last) {
    var unused = last.close().whenComplete((done, error) -> ended.complete(null));
  }

  /** Ends what is left after the end of the link. */
  private void giveUp() {
    lock.lock();
    try {
      int unsent = pending.takeAll().size();
      if (unsent > 0) {
        LOG.log(
            WARNING,
            "{0} is closed with {1} releases unsent: entries of theirs end with their ttl",
            name,
            unsent);
      }
      Wire last = joining;
      joining = null;
      if (last != null) {
        endBehind(last);
      } else {
        ended.complete(null);
      }
    } finally {
      lock.unlock();
    }
  }
}
