package dev.lukko.redis.protocol;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.lukko.spi.LockNode;
import dev.lukko.time.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The hints of one node about releases: who wants them, and the one connection by which they come.
 *
 * <p>The connection is made with the first watch. A channel is subscribed to once, whoever watches
 * it, and kept for a second after the last watch has ended, so that a lock that is taken and
 * released all the time does not cost two more requests each time. When a subscription comes into
 * force, also after a reconnect, its watchers get a hint, since what was released before it went
 * unheard.
 *
 * <p>The lock guards the state only; hints are called outside of it, mostly in the thread of the
 * connection.
 */
public final class ReleaseHints {
  private static final System.Logger LOG = System.getLogger(ReleaseHints.class.getName());
  private static final long LINGER_MILLIS = 1_000;
  private static final long MIN_BACKOFF_MILLIS = 20;
  private static final long MAX_BACKOFF_MILLIS = 1_000;

  private final Supplier<? extends CompletionStage<? extends HintConnection>> connector;
  private final String name;
  private final Scheduler timers;
  private final ReentrantLock lock = new ReentrantLock();
  private final ConcurrentMap<String, HintChannel> channels = new ConcurrentHashMap<>();

  // guarded by the lock
  private @Nullable HintConnection connection;
  private boolean connecting;
  private CompletableFuture<Void> attempt = CompletableFuture.completedFuture(null);
  private boolean outageIsLogged;
  private boolean closed;
  private long backoffMillis = MIN_BACKOFF_MILLIS;

  /**
   * No connection yet.
   *
   * @param connector makes a connection that does not reconnect by itself
   * @param name the node's name in messages
   */
  public ReleaseHints(
      Supplier<? extends CompletionStage<? extends HintConnection>> connector,
      String name,
      Scheduler timers) {
    this.connector = connector;
    this.name = name;
    this.timers = timers;
  }

  /** Whether nobody has watched anything of late. */
  public boolean isIdle() {
    return channels.isEmpty();
  }

  /** A grant is about to be asked for: releases that were heard of before are of no interest. */
  public void asking(String channelName) {
    HintChannel channel = channels.get(channelName);
    if (channel != null) {
      channel.asking();
    }
  }

  /** Calls the hint when something may have been released, until the watch is closed. */
  public LockNode.Watch watch(String channelName, Runnable hint) {
    HintChannel channel;
    boolean missed;
    lock.lock();
    try {
      if (closed) {
        return () -> {};
      }
      HintChannel known = channels.get(channelName);
      channel = known != null ? known : new HintChannel(channelName);
      channel.add(hint);
      missed = channel.mayHaveMissed();
      if (known == null) {
        channels.put(channelName, channel);
        subscribe(List.of(channelName));
      }
    } finally {
      lock.unlock();
    }
    if (missed) {
      channel.call(hint);
    }
    AtomicBoolean ended = new AtomicBoolean();
    return () -> {
      if (ended.compareAndSet(false, true)) {
        unwatch(channel, hint);
      }
    };
  }

  private void unwatch(HintChannel channel, Runnable hint) {
    lock.lock();
    try {
      if (channel.remove(hint)) {
        linger(channel);
      }
    } finally {
      lock.unlock();
    }
  }

  private void linger(HintChannel channel) {
    if (!closed && channel.beginToLinger()) {
      later(() -> endLinger(channel), LINGER_MILLIS);
    }
  }

  private void endLinger(HintChannel channel) {
    lock.lock();
    try {
      channel.endToLinger();
      if (!channel.isUnusedFor(TimeUnit.MILLISECONDS.toNanos(LINGER_MILLIS))) {
        linger(channel);
      } else if (channels.remove(channel.name(), channel) && connection != null) {
        connection.unsubscribe(channel.name());
      }
    } finally {
      lock.unlock();
    }
  }

  private void subscribe(List<String> names) {
    if (names.isEmpty()) {
      return;
    }
    if (connection == null) {
      connect();
      return;
    }
    connection
        .subscribe(names)
        .whenComplete(
            (done, error) -> {
              if (error != null) {
                onRefused(names, error);
              }
            });
  }

  /** The server does not let us subscribe, or the connection has ended, which is seen elsewhere. */
  private void onRefused(List<String> names, Throwable error) {
    lock.lock();
    try {
      if (closed || connection == null || !Faults.isReply(error)) {
        return;
      }
      logOutage(Faults.ofRequest(error).detail());
      later(() -> subscribeAgain(names), MAX_BACKOFF_MILLIS);
    } finally {
      lock.unlock();
    }
  }

  private void subscribeAgain(List<String> names) {
    lock.lock();
    try {
      if (connection != null) {
        subscribe(names.stream().filter(channels::containsKey).toList());
      }
    } finally {
      lock.unlock();
    }
  }

  private void connect() {
    if (connection != null || connecting || closed) {
      return;
    }
    connecting = true;
    CompletableFuture<HintConnection> made = Elsewhere.begin(timers, connector);
    attempt = made.handleAsync(this::onTried, timers::execute).thenCompose(ended -> ended);
  }

  /** Completes when nothing of the attempt is left to be ended. */
  private CompletableFuture<Void> onTried(
      @Nullable HintConnection made, @Nullable Throwable error) {
    lock.lock();
    try {
      connecting = false;
      if (made == null) {
        logOutage(error == null ? "not connected" : Faults.ofConnecting(error).detail());
        reconnectLater();
      } else if (closed) {
        return made.close();
      } else {
        onConnected(made);
      }
      return CompletableFuture.completedFuture(null);
    } finally {
      lock.unlock();
    }
  }

  private void onConnected(HintConnection made) {
    made.listen(
        new HintConnection.Listener() {
          @Override
          public void message(String channel) {
            onHint(channel, false);
          }

          @Override
          public void subscribed(String channel) {
            onHint(channel, true);
          }

          @Override
          public void disconnected() {
            onLost(made);
          }
        });
    connection = made;
    subscribe(List.copyOf(channels.keySet()));
    if (!made.isOpen()) {
      onLost(made); // it ended before the listener was there
    }
  }

  private void onHint(String channelName, boolean subscribed) {
    HintChannel channel = channels.get(channelName);
    if (subscribed) {
      onSubscribed();
    }
    if (channel != null) {
      channel.heard(subscribed);
    }
  }

  private void onSubscribed() {
    lock.lock();
    try {
      backoffMillis = MIN_BACKOFF_MILLIS;
      if (outageIsLogged) {
        outageIsLogged = false;
        timers.execute(() -> LOG.log(INFO, "{0} gives hints about releases again", name));
      }
    } finally {
      lock.unlock();
    }
  }

  private void onLost(HintConnection lost) {
    lock.lock();
    try {
      lost.close();
      if (connection == lost) {
        connection = null;
        channels.values().removeIf(channel -> channel.isUnusedFor(0));
        channels.values().forEach(HintChannel::broken);
        reconnectLater();
      }
    } finally {
      lock.unlock();
    }
  }

  private void reconnectLater() {
    if (closed || channels.isEmpty()) {
      return; // the next watch connects
    }
    later(this::reconnect, backoffMillis);
    backoffMillis = Math.min(MAX_BACKOFF_MILLIS, backoffMillis * 2);
  }

  private void reconnect() {
    lock.lock();
    try {
      connect();
    } finally {
      lock.unlock();
    }
  }

  private void logOutage(String reason) {
    if (!outageIsLogged && !closed) {
      outageIsLogged = true;
      timers.execute(
          () ->
              LOG.log(
                  WARNING,
                  "{0} gives no hints about releases, so waiting calls ask it once a second: {1}",
                  name,
                  reason));
    }
  }

  private void later(Runnable task, long delayMillis) {
    timers.schedule(task, TimeUnit.MILLISECONDS.toNanos(delayMillis));
  }

  /** Ends all hints and the connection. */
  public CompletableFuture<Void> close() {
    lock.lock();
    try {
      closed = true;
      List<HintChannel> open = new ArrayList<>(channels.values());
      channels.clear();
      open.forEach(HintChannel::end);
      HintConnection current = connection;
      connection = null;
      return current == null ? attempt : current.close();
    } finally {
      lock.unlock();
    }
  }
}
