package dev.lukko.redis;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.Unknown;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.netty.util.Timer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The way to one server: a {@link Wire} while there is one, and the attempts to make a new one.
 *
 * <p>Reconnecting is done here and not by the driver, because a driver that reconnects sends again
 * what was under way, and because the open releases must be the first requests on a new connection.
 */
final class RedisLink {
  private static final System.Logger LOG = System.getLogger(RedisLink.class.getName());
  private static final long MIN_BACKOFF_MILLIS = 10;
  private static final long MAX_BACKOFF_MILLIS = 1_000;
  private static final long RESEND_MILLIS = 500;

  private final RedisClient client;
  private final RedisURI uri;
  private final String name;
  private final Duration commandTimeout;
  private final Timer timer;
  private final CountDownLatch firstTry = new CountDownLatch(1);
  private final ReentrantLock lock = new ReentrantLock();
  private final PendingReleases pending = new PendingReleases();

  // guarded by the lock, wire also read without it
  private volatile @Nullable Wire wire;
  private volatile Failed down = new Failed("not connected: the first connection is being made");
  private long longestTtlNanos;
  private long backoffMillis = MIN_BACKOFF_MILLIS;
  private boolean outageIsLogged;
  private boolean resendIsScheduled;
  private boolean closed;

  RedisLink(RedisClient client, RedisURI uri, String name, Duration commandTimeout) {
    this.client = client;
    this.uri = uri;
    this.name = name;
    this.commandTimeout = commandTimeout;
    this.timer = client.getResources().timer();
  }

  /** Begins to connect, and goes on until {@link #close()}. */
  void connect() {
    try {
      var unused =
          client
              .connectAsync(StringCodec.UTF8, uri)
              .toCompletableFuture()
              .whenComplete(this::onTried);
    } catch (RuntimeException e) {
      onTried(null, e);
    }
  }

  /** Waits until the first attempt to connect has ended, in whichever way, or the time is over. */
  void awaitFirstTry(long nanos) {
    try {
      if (!firstTry.await(nanos, TimeUnit.NANOSECONDS)) {
        LOG.log(WARNING, "{0} does not answer yet; it joins when it does", name);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  boolean isConnected() {
    return wire != null;
  }

  /** Remembers for how long entries of this client may live. */
  void noteTtl(long ttlMillis) {
    lock.lock();
    try {
      longestTtlNanos = Math.max(longestTtlNanos, TimeUnit.MILLISECONDS.toNanos(ttlMillis));
    } finally {
      lock.unlock();
    }
  }

  /** Sends a request once; completes with the reply or with a {@link NodeFaultException}. */
  CompletableFuture<List<Object>> send(ScriptCall call) {
    Wire current = wire;
    return current == null
        ? CompletableFuture.failedFuture(new NodeFaultException(down))
        : current.send(call);
  }

  /** Sends a release, and again for as long as its outcome is open. */
  CompletableFuture<List<Object>> sendRelease(ScriptCall call) {
    PendingRelease release = new PendingRelease(call);
    lock.lock();
    try {
      Wire current = wire;
      if (current != null) {
        return sendOn(current, release);
      }
      pending.keep(release);
      Unknown kept = new Unknown(down.detail() + "; the release is kept and sent later");
      return CompletableFuture.failedFuture(new NodeFaultException(closed ? down : kept));
    } finally {
      lock.unlock();
    }
  }

  private void sendPending(Wire current) {
    for (PendingRelease release : pending.takeAll()) {
      var unused = sendOn(current, release);
    }
  }

  private CompletableFuture<List<Object>> sendOn(Wire current, PendingRelease release) {
    CompletableFuture<List<Object>> reply = current.send(release.call());
    var unused =
        reply.whenComplete(
            (value, error) -> {
              if (error != null) {
                onReleaseFault(release, Faults.ofRequest(error));
              }
            });
    return reply;
  }

  private void onReleaseFault(PendingRelease release, NodeFault fault) {
    lock.lock();
    try {
      long nowNanos = System.nanoTime();
      if (fault.cause() instanceof RedisCommandExecutionException) {
        release.refused(nowNanos);
      }
      if (!closed && !release.isPointless(nowNanos, longestTtlNanos)) {
        pending.keep(release);
        scheduleResend();
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

  private void onTried(
      @Nullable StatefulRedisConnection<String, String> connection, @Nullable Throwable error) {
    lock.lock();
    try {
      if (connection == null) {
        onDown(error == null ? new Failed("not connected") : Faults.ofConnecting(error));
      } else {
        onConnected(connection);
      }
    } finally {
      lock.unlock();
      firstTry.countDown();
    }
  }

  private void onConnected(StatefulRedisConnection<String, String> connection) {
    Wire fresh = new Wire(connection, timer, commandTimeout);
    if (closed) {
      var unused = fresh.close();
      return;
    }
    connection.addListener(
        new RedisConnectionStateListener() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            onLost(fresh);
          }
        });
    // Before anybody else can use the connection: no new grant overtakes an old release.
    sendPending(fresh);
    wire = fresh;
    backoffMillis = MIN_BACKOFF_MILLIS;
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
        onDown(new Failed("not connected: the connection was lost"));
      }
    } finally {
      lock.unlock();
    }
  }

  private void onDown(Failed reason) {
    wire = null;
    if (closed) {
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
    try {
      timer.newTimeout(timeout -> task.run(), delayMillis, TimeUnit.MILLISECONDS);
    } catch (IllegalStateException stopped) {
      LOG.log(WARNING, name + " stays disconnected: its driver was shut down", stopped);
    }
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

  /** Ends the connection and all attempts. The client is not closed. */
  CompletableFuture<Void> close() {
    lock.lock();
    try {
      closed = true;
      down = new Failed("closed: the node " + name + " is closed");
      Wire current = wire;
      wire = null;
      return current == null ? CompletableFuture.completedFuture(null) : current.close();
    } finally {
      lock.unlock();
    }
  }
}
