package dev.lukko.redis;

import dev.lukko.spi.Failed;
import dev.lukko.spi.Unknown;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One connection, from its handshake to its end; it is never revived.
 *
 * <p>Requests leave in the order in which they are handed in. Each is answered or fails within the
 * command timeout. If a request runs into it and nothing at all has come from the server meanwhile,
 * the connection is given up: a dead link gives no other sign for many minutes. It is closed in an
 * orderly way, so that a server that was only stopped still runs what it was sent, in order, before
 * it sees the end.
 */
final class Wire {

  /** Beyond this, nothing more is asked for; there is room left for the releases of all of it. */
  static final int MAX_OUTSTANDING = 4_096;

  private final StatefulRedisConnection<String, String> connection;
  private final Timer timer;
  private final Duration commandTimeout;
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final AtomicInteger outstanding = new AtomicInteger();
  private volatile long lastReplyNanos = System.nanoTime();
  private volatile @Nullable ServerFacts server;

  Wire(StatefulRedisConnection<String, String> connection, Timer timer, Duration commandTimeout) {
    this.connection = connection;
    this.timer = timer;
    this.commandTimeout = commandTimeout;
  }

  /** Looks at the server at the other end; the first look also says whom the marker must name. */
  CompletableFuture<Survey> survey(String markerKey, Duration timeout) {
    CompletableFuture<Survey> result = new CompletableFuture<>();
    try {
      Timeout expiry = startTimer(result, timeout);
      Survey.of(connection, markerKey)
          .whenComplete(
              (survey, error) -> {
                expiry.cancel();
                if (survey == null) {
                  Throwable cause = error == null ? new IllegalStateException("no reply") : error;
                  result.completeExceptionally(new NodeFaultException(Faults.ofRequest(cause)));
                } else {
                  lastReplyNanos = survey.atNanos();
                  server = survey.facts();
                  result.complete(survey);
                }
              });
    } catch (RuntimeException e) { // the driver was shut down
      result.completeExceptionally(new NodeFaultException(Faults.ofRequest(e)));
    }
    return result;
  }

  /** The server at the other end; null before the first look. */
  @Nullable ServerFacts server() {
    return server;
  }

  /** The run that the marker must name; empty if the server has no marker. */
  private String run() {
    ServerFacts facts = server;
    return facts == null || facts.clusterMember() ? "" : facts.run();
  }

  /** When the server last answered, on the monotonic clock. */
  long lastReplyNanos() {
    return lastReplyNanos;
  }

  void onDisconnected(Runnable action) {
    connection.addListener(
        new RedisConnectionStateListener() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            action.run();
          }
        });
  }

  boolean isOpen() {
    return connection.isOpen();
  }

  /** Ends the connection; completes when it has ended. */
  CompletableFuture<Void> close() {
    if (closing.compareAndSet(false, true)) {
      var unused = connection.closeAsync().whenComplete((nothing, error) -> closed.complete(null));
    }
    return closed;
  }

  /** Sends a request; the stage completes with the reply or with a {@link NodeFaultException}. */
  CompletableFuture<List<Object>> send(ScriptCall call) {
    CompletableFuture<List<Object>> reply = new CompletableFuture<>();
    if (call.script().creates() && outstanding.get() >= MAX_OUTSTANDING) {
      reply.completeExceptionally(
          new NodeFaultException(
              new Failed("not sent: " + MAX_OUTSTANDING + " requests wait for this server")));
      return reply;
    }
    try {
      Timeout timeout = startTimer(reply, commandTimeout);
      dispatch(
          ScriptRequest.byDigest(
              call,
              run(),
              (value, error) -> {
                ended(error);
                if (error != null && Faults.isUnknownScript(error)) {
                  sendText(call, reply, timeout);
                } else {
                  timeout.cancel();
                  settle(reply, value, error);
                }
              }));
    } catch (RuntimeException e) { // the driver was shut down
      reply.completeExceptionally(new NodeFaultException(Faults.ofRequest(e)));
    }
    return reply;
  }

  /** The same request again with the script's text, on this connection, inside its time. */
  private void sendText(ScriptCall call, CompletableFuture<List<Object>> reply, Timeout timeout) {
    boolean sent =
        !reply.isDone()
            && call.sendUnlessWithdrawn(
                () ->
                    dispatch(
                        ScriptRequest.byText(
                            call,
                            run(),
                            (value, error) -> {
                              ended(error);
                              timeout.cancel();
                              settle(reply, value, error);
                            })));
    if (!sent) {
      timeout.cancel();
      reply.completeExceptionally(
          new NodeFaultException(
              new Failed(
                  Failed.WITHDRAWN
                      + ": not sent again with its script's text, since its owner has released"
                      + " meanwhile")));
    }
  }

  private void dispatch(ScriptRequest request) {
    outstanding.incrementAndGet();
    try {
      var unused = connection.dispatch(request);
    } catch (RuntimeException e) { // the driver was shut down
      request.completeExceptionally(e);
    }
  }

  private void ended(@Nullable Throwable error) {
    outstanding.decrementAndGet();
    if (Faults.isReply(error)) {
      lastReplyNanos = System.nanoTime();
    }
  }

  private static void settle(
      CompletableFuture<List<Object>> reply,
      @Nullable List<Object> value,
      @Nullable Throwable error) {
    if (value != null) {
      reply.complete(value);
    } else {
      Throwable cause = error == null ? new IllegalStateException("no reply") : error;
      reply.completeExceptionally(new NodeFaultException(Faults.ofRequest(cause)));
    }
  }

  private Timeout startTimer(CompletableFuture<?> reply, Duration timeout) {
    long startNanos = System.nanoTime();
    return timer.newTimeout(
        expired -> expire(reply, startNanos, timeout), timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void expire(CompletableFuture<?> reply, long startNanos, Duration timeout) {
    boolean silent = lastReplyNanos - startNanos < 0;
    boolean unanswered =
        reply.completeExceptionally(
            new NodeFaultException(
                new Unknown("timeout: no reply within " + timeout.toMillis() + " ms")));
    if (unanswered && silent) {
      var unused = close(); // behind whatever was sent when the reply failed just now
    }
  }
}
