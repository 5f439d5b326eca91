package dev.lukko.redis.protocol;

import dev.lukko.spi.Failed;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.Unknown;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Scheduler.Timer;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
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
public final class Wire {
  /** Beyond this, nothing more is asked for; there is room left for the releases of all of it. */
  public static final int MAX_OUTSTANDING = 4_096;

  private final ServerConnection connection;
  private final Scheduler timers;
  private final Duration commandTimeout;
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final AtomicInteger outstanding = new AtomicInteger();
  private final AtomicInteger unsettled = new AtomicInteger();
  private volatile boolean disconnected;
  private volatile long lastReplyNanos = Ticker.system().nanoTime();
  private volatile long askedNanos;
  private volatile @Nullable Silence silence;
  private volatile @Nullable ServerFacts server;
  private volatile boolean textOnly; // this user or server has no EVALSHA
  private volatile String run = "";

  public Wire(ServerConnection connection, Scheduler timers, Duration commandTimeout) {
    this.connection = connection;
    this.timers = timers;
    this.commandTimeout = commandTimeout;
  }

  /** Looks at the server at the other end; the first look also says whether it keeps records. */
  CompletableFuture<Survey> survey(String recordsKey, Duration timeout) {
    CompletableFuture<Survey> result = new CompletableFuture<>();
    try {
      Timer expiry = startTimer(result, timeout);
      Survey.of(connection, recordsKey)
          .whenComplete(
              (survey, error) -> {
                expiry.cancel();
                if (survey == null) {
                  Throwable cause = error == null ? new IllegalStateException("no reply") : error;
                  result.completeExceptionally(new NodeFaultException(Faults.ofRequest(cause)));
                } else {
                  lastReplyNanos = survey.atNanos();
                  server = survey.facts();
                  run =
                      survey.facts().clusterMember() ? "" : FleetRecord.idOf(survey.facts().run());
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

  /** The id of the run of the server; empty if it keeps no records. */
  private String run() {
    return run;
  }

  /** When the server last answered, on the monotonic clock. */
  public long lastReplyNanos() {
    return lastReplyNanos;
  }

  public void onDisconnected(Runnable action) {
    connection.onDisconnected(action);
  }

  /**
   * Watches for silence: nothing has come from the server for so long though it was asked.
   *
   * @param action called then, in a thread of the timers, and again after each further such time
   */
  void onSilent(LongSupplier boundNanos, Runnable action) {
    silence = new Silence(timers, boundNanos, this::quietNanos, action);
  }

  /** Whether the server has been silent for too long by now. */
  boolean isSilent() {
    Silence watched = silence;
    return watched != null && watched.isTooLong();
  }

  /** For how long the server has been silent; zero if no reply is outstanding. */
  private long quietNanos() {
    if (outstanding.get() == 0 || closing.get()) {
      return 0;
    }
    long nowNanos = Ticker.system().nanoTime();
    return Math.max(1, Math.min(nowNanos - lastReplyNanos, nowNanos - askedNanos));
  }

  public boolean isOpen() {
    return connection.isOpen();
  }

  /** Ends the connection; completes when it has ended and every reply is there. */
  public CompletableFuture<Void> close() {
    if (closing.compareAndSet(false, true)) {
      var unused =
          connection
              .close()
              .whenComplete(
                  (nothing, error) -> {
                    disconnected = true;
                    endBehindReplies();
                  });
    }
    return closed;
  }

  /** A driver may end a connection first, and what was under way on it a moment later. */
  private void endBehindReplies() {
    if (disconnected && unsettled.get() == 0) {
      closed.complete(null);
    }
  }

  /** Sends a request; the stage completes with the reply or with a {@link NodeFaultException}. */
  public CompletableFuture<List<Object>> send(ScriptCall call) {
    CompletableFuture<List<Object>> reply = new CompletableFuture<>();
    if (call.script().creates() && outstanding.get() >= MAX_OUTSTANDING) {
      reply.completeExceptionally(
          new NodeFaultException(
              new Failed(
                  Failed.NOT_SENT + ": " + MAX_OUTSTANDING + " requests wait for this server")));
      return reply;
    }
    unsettled.incrementAndGet();
    var unused =
        reply.whenComplete( // Registered first, so behind whatever else it leads to.
            (value, error) -> {
              unsettled.decrementAndGet();
              endBehindReplies();
            });
    try {
      Timer timeout = startTimer(reply, commandTimeout);
      call.sentOn(this);
      sendDigest(call, reply, timeout);
    } catch (RuntimeException e) { // the driver was shut down
      reply.completeExceptionally(new NodeFaultException(Faults.ofRequest(e)));
    }
    return reply;
  }

  private void sendDigest(ScriptCall call, CompletableFuture<List<Object>> reply, Timer timeout) {
    if (textOnly) {
      sendText(call, reply, timeout);
      return;
    }
    dispatch(
        call,
        false,
        (value, error) -> {
          ended(error);
          if (error != null && Faults.isUnknownScript(error)) {
            sendText(call, reply, timeout);
          } else if (error != null && Faults.isDigestRefused(error)) {
            sendText(call, reply, timeout); // and from then on, if that is not refused as well
            var unused = reply.thenAccept(done -> textOnly = true);
          } else {
            timeout.cancel();
            settle(call, reply, value, error);
          }
        });
  }

  /** The same request again with the script's text, on this connection, inside its time. */
  private void sendText(ScriptCall call, CompletableFuture<List<Object>> reply, Timer timeout) {
    boolean sent =
        !reply.isDone()
            && call.sendUnlessWithdrawn(
                () ->
                    dispatch(
                        call,
                        true,
                        (value, error) -> {
                          ended(error);
                          timeout.cancel();
                          settle(call, reply, value, error);
                        }));
    if (!sent) {
      timeout.cancel();
      call.answered();
      reply.completeExceptionally(
          new NodeFaultException(
              new Failed(
                  Failed.WITHDRAWN
                      + ": not sent again with its script's text, since its owner has released"
                      + " meanwhile")));
    }
  }

  private void dispatch(
      ScriptCall call,
      boolean withText,
      BiConsumer<@Nullable List<Object>, @Nullable Throwable> then) {
    if (outstanding.get() == 0) {
      askedNanos = Ticker.system().nanoTime();
    }
    outstanding.incrementAndGet();
    Silence watched = silence;
    if (watched != null) {
      watched.asked();
    }
    connection.send(call, run(), withText, then);
  }

  private void ended(@Nullable Throwable error) {
    outstanding.decrementAndGet();
    if (Faults.isReply(error)) {
      lastReplyNanos = Ticker.system().nanoTime();
    }
  }

  private static void settle(
      ScriptCall call,
      CompletableFuture<List<Object>> reply,
      @Nullable List<Object> value,
      @Nullable Throwable error) {
    if (Faults.isReply(error) || Faults.isNotSent(error)) {
      call.answered();
    }
    if (value != null) {
      reply.complete(value);
    } else {
      Throwable cause = error == null ? new IllegalStateException("no reply") : error;
      reply.completeExceptionally(new NodeFaultException(Faults.ofRequest(cause)));
    }
  }

  private Timer startTimer(CompletableFuture<?> reply, Duration timeout) {
    long startNanos = Ticker.system().nanoTime();
    return timers.schedule(() -> expire(reply, startNanos, timeout), timeout.toNanos());
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
