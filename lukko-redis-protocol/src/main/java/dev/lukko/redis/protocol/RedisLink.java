package dev.lukko.redis.protocol;

import static java.lang.System.Logger.Level.INFO;

import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.redis.protocol.Standing.Known;
import dev.lukko.release.PendingRelease;
import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.Unknown;
import dev.lukko.time.Scheduler;
import java.time.Duration;
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
  /** Where all parts of a link log. */
  static final System.Logger LOG = System.getLogger(RedisLink.class.getName());

  private static final Notes NOTES = new Notes();
  private static final long MIN_SILENCE_MILLIS = 250;
  private static final long MAX_SILENCE_MILLIS = 1_000;

  /** What a server that belongs to a cluster leaves to the others. */
  public interface Cluster {
    /** A release that must go to another server. */
    void onMisplaced(ScriptCall release);

    /** The server is a replica of another one. */
    void onReplica(Place master);

    /** The server could not be reached for a long time; it may have left the cluster. */
    void onLongOutage(RedisLink link);
  }

  private final Connector connector;
  private final boolean wanders;
  private final @Nullable Cluster cluster;
  private final String name;
  private final String recordsKey;
  private final Duration connectTimeout;
  private final Duration commandTimeout;
  private final Scheduler timers;
  private final CompletableFuture<Void> firstTry = new CompletableFuture<>();
  private final LinkStatus standing;

  /** Guards what follows and the state of all these parts: the only lock of the link. */
  private final ReentrantLock lock = new ReentrantLock();

  private final LinkEnd end = new LinkEnd();
  private final UnsharedWire unshared = new UnsharedWire();
  private final LinkReleases releases;
  private final LastReleases lastReleases;
  private final Replacement replacement;
  private final Outage outage;

  // guarded by the lock, wire and down also read without it
  private volatile @Nullable Wire wire;
  private volatile NodeFault down =
      new Failed(Failed.NOT_CONNECTED + ": the first connection is being made");
  private volatile long shortestTtlMillis = Long.MAX_VALUE;
  private Known known = Known.NOBODY;

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
      String recordsKey,
      Duration connectTimeout,
      Duration commandTimeout) {
    this.connector = connector;
    this.wanders = wanders;
    this.cluster = cluster;
    this.timers = timers;
    this.name = name;
    this.recordsKey = recordsKey;
    this.connectTimeout = connectTimeout;
    this.commandTimeout = commandTimeout;
    standing = new LinkStatus(wanders, recordsKey, commandTimeout);
    outage = new Outage(name, timers);
    replacement =
        new Replacement(lock, connector, timers, recordsKey, connectTimeout, commandTimeout);
    releases = new LinkReleases(lock, end, () -> wire, timers, cluster);
    lastReleases = new LastReleases(lock, end, releases, unshared, this::connect, timers, name);
  }

  /** Begins to connect, and goes on until {@link #close()}. */
  public void connect() {
    lock.lock();
    try {
      unshared.connecting();
    } finally {
      lock.unlock();
    }
    tryToConnect();
  }

  private void tryToConnect() {
    CompletableFuture<ServerConnection> connecting = Elsewhere.begin(timers, connector::connect);
    var unused = connecting.whenCompleteAsync(this::onTried, timers::execute);
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
  public void noteTtl(long ttlMillis) {
    if (ttlMillis < shortestTtlMillis) {
      shortestTtlMillis = ttlMillis; // a longer one that wins a race is set right by the next
    }
  }

  private long longestSilenceNanos() {
    return TimeUnit.MILLISECONDS.toNanos(
        Math.max(MIN_SILENCE_MILLIS, Math.min(MAX_SILENCE_MILLIS, shortestTtlMillis / 4)));
  }

  /**
   * The server is asked on a new connection while this one may still come back to life: if only the
   * connection is dead, nobody waits for the command timeout. A server that hangs answers on
   * neither, and keeps the one it has.
   */
  private void onSilent(Wire silent) {
    replacement.begin((fresh, survey) -> replace(silent, fresh, survey));
  }

  private boolean replace(Wire silent, Wire fresh, Survey survey) {
    boolean wanted =
        wire == silent
            && silent.isSilent()
            && Standing.of(survey, wanders ? Known.NOBODY : known).state()
                != NodeStatus.State.UNFIT;
    if (wanted) {
      LOG.log(INFO, "{0}: the connection has gone silent, another one takes its place", name);
      onConnected(fresh, survey.facts());
      var unused = silent.close(); // what is under way on it fails, and its releases are sent again
    }
    return wanted;
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
    lock.lock();
    try {
      Wire current = wire;
      if (current != null) {
        return releases.send(current, call);
      }
      boolean kept = !end.hasBegun() && releases.keep(call);
      return CompletableFuture.failedFuture(
          new NodeFaultException(
              kept ? new Unknown(down.detail() + "; the release is kept and sent later") : down));
    } finally {
      lock.unlock();
    }
  }

  private void onTried(@Nullable ServerConnection connection, @Nullable Throwable error) {
    Wire fresh = null;
    lock.lock();
    try {
      unshared.tried();
      if (connection == null) {
        onDown(error == null ? new Failed(Failed.NOT_CONNECTED) : Faults.ofConnecting(error));
      } else {
        fresh = new Wire(connection, timers, commandTimeout);
        if (end.hasBegun() && releases.isEmpty()) {
          end.behind(fresh);
          return;
        }
        unshared.set(fresh);
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
              .survey(recordsKey, connectTimeout)
              .whenCompleteAsync(
                  (survey, fault) -> onSurveyed(examined, survey, fault), timers::execute);
    }
  }

  /** Nothing else was asked of this server yet: first it is clear who it is. */
  private void onSurveyed(Wire fresh, @Nullable Survey survey, @Nullable Throwable error) {
    List<PendingRelease<ScriptCall>> left = List.of();
    Place master = survey == null ? null : survey.facts().master();
    lock.lock();
    try {
      unshared.take();
      if (end.hasBegun()) {
        if (survey != null && survey.facts().unfit().isEmpty()) {
          lastReleases.send(fresh);
        } else {
          var unused = fresh.close();
          lastReleases.giveUp();
        }
      } else if (survey == null) {
        var unused = fresh.close();
        onDown(
            error == null
                ? new Failed(Failed.NOT_CONNECTED)
                : notConnected(Faults.ofRequest(error)));
      } else {
        NodeStatus status = Standing.of(survey, wanders ? Known.NOBODY : known);
        if (status.state() == NodeStatus.State.UNFIT) {
          var unused = fresh.close();
          onDown(new NotVoting(status));
          if (cluster != null && master != null) {
            left = releases.takeAll();
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
      releases.misplaced(left);
    }
  }

  /** A request was not sent, whatever became of the question who the server is. */
  private static Failed notConnected(NodeFault fault) {
    return fault instanceof Failed failed
        ? failed
        : new Failed(Failed.NOT_CONNECTED + ": " + fault.detail(), fault.cause());
  }

  private void onConnected(Wire fresh, ServerFacts server) {
    fresh.onDisconnected(() -> onLost(fresh));
    fresh.onSilent(this::longestSilenceNanos, () -> onSilent(fresh));
    // Before anybody else can use the connection: no new grant overtakes an old release.
    releases.sendPending(fresh);
    wire = fresh;
    if (!server.note().isEmpty() && NOTES.isFirst(server.run())) {
      LOG.log(INFO, "{0}: {1}", name, server.note());
    }
    known = new Known(server.run(), fresh.lastReplyNanos());
    outage.over();
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
        onDown(new Failed(Failed.NOT_CONNECTED + ": the connection was lost"));
      }
    } finally {
      lock.unlock();
    }
  }

  private void onDown(NodeFault reason) {
    wire = null;
    if (end.hasBegun()) {
      lastReleases.giveUp();
      return;
    }
    down = reason;
    if (cluster != null && outage.isLong()) {
      timers.execute(() -> cluster.onLongOutage(this));
    }
    long delayMillis = outage.goesOn(reason.detail());
    timers.schedule(this::reconnect, TimeUnit.MILLISECONDS.toNanos(delayMillis));
  }

  private void reconnect() {
    lock.lock();
    try {
      if (end.hasBegun()) {
        return;
      }
      unshared.connecting(); // with the same lock, so that the end waits for it
    } finally {
      lock.unlock();
    }
    tryToConnect();
  }

  /** Gives the releases that are kept, for the servers that have their slots now. */
  List<PendingRelease<ScriptCall>> takeReleases() {
    lock.lock();
    try {
      return releases.takeAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletableFuture<NodeStatus> status() {
    Wire current = wire;
    return current == null
        ? CompletableFuture.completedFuture(standing.without(down))
        : standing.ask(current);
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
  public NodeStatus statusOf(String key, String seen, String record, long serverMillis) {
    Wire current = wire;
    ServerFacts server = current == null ? null : current.server();
    return server == null
        ? NodeStatus.unreachable(down.detail())
        : Standing.ofRecord(server, key, seen, record, serverMillis);
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
      if (end.begin()) {
        down = new Failed("closed: the node " + name + " is closed");
        Wire current = wire;
        wire = null;
        lastReleases.onClosed(current);
      }
    } finally {
      lock.unlock();
      firstTry.complete(null);
    }
    return CompletableFuture.allOf(end.over(), replacement.end());
  }
}
