package dev.lukko.redis;

import dev.lukko.redis.protocol.Faults;
import dev.lukko.redis.protocol.RedisAddress.Place;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.netty.util.Timeout;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Connects to the server that Sentinel names as the master, asking anew for each connection.
 *
 * <p>All Sentinels are asked at once, and the first one that knows the master is believed: one that
 * is down or hangs costs nothing.
 */
final class SentinelConnector implements DriverConnector {
  private final RedisClient client;
  private final DriverAddress address;
  private final Duration timeout;

  SentinelConnector(RedisClient client, DriverAddress address, Duration timeout) {
    this.client = client;
    this.address = address;
    this.timeout = timeout;
  }

  @Override
  public CompletionStage<DriverConnection> connect() {
    return master().thenCompose(place -> direct(place).connect());
  }

  @Override
  public CompletionStage<DriverHints> connectHints() {
    return master().thenCompose(place -> direct(place).connectHints());
  }

  private DirectConnector direct(Place place) {
    return new DirectConnector(client, address.serverAt(place));
  }

  /** Where the master is; fails with what each Sentinel said if none knows it. */
  private CompletableFuture<Place> master() {
    CompletableFuture<Place> answer = new CompletableFuture<>();
    List<CompletableFuture<String>> failures = new ArrayList<>();
    for (RedisURI sentinel : address.seeds()) {
      failures.add(
          ask(sentinel)
              .handle(
                  (place, error) -> {
                    if (place != null) {
                      answer.complete(place);
                      return "";
                    }
                    return "Sentinel "
                        + sentinel.getHost()
                        + ":"
                        + sentinel.getPort()
                        + ": "
                        + why(error);
                  }));
    }
    var unused =
        CompletableFuture.allOf(failures.toArray(new CompletableFuture<?>[0]))
            .thenRun(
                () ->
                    answer.completeExceptionally(
                        new IllegalStateException(
                            String.join(
                                "; ", failures.stream().map(each -> each.join()).toList()))));
    return answer;
  }

  private String why(@Nullable Throwable error) {
    return error == null
        ? "it does not know a master named " + address.master()
        : error instanceof TimeoutException || error.getCause() instanceof TimeoutException
            ? "no answer within " + timeout.toMillis() + " ms"
            : Faults.ofConnecting(DriverErrors.ofConnecting(error)).detail();
  }

  private CompletableFuture<@Nullable Place> ask(RedisURI sentinel) {
    CompletableFuture<StatefulRedisSentinelConnection<String, String>> connecting;
    try {
      connecting =
          CallersThread.keptClean(() -> client.connectSentinelAsync(StringCodec.UTF8, sentinel));
    } catch (RuntimeException e) { // the driver was shut down
      return CompletableFuture.failedFuture(e);
    }
    return connecting.thenCompose(
        connection ->
            bounded(connection.async().getMasterAddrByName(address.master()).toCompletableFuture())
                .thenApply(SentinelConnector::place)
                .whenComplete((place, error) -> connection.closeAsync()));
  }

  /** Making the connection is bounded by the driver, but not what is asked on it. */
  private <T> CompletableFuture<T> bounded(CompletableFuture<T> asked) {
    Timeout timer =
        client
            .getResources()
            .timer()
            .newTimeout(
                late -> asked.completeExceptionally(new TimeoutException()),
                timeout.toNanos(),
                TimeUnit.NANOSECONDS);
    var unused = asked.whenComplete((value, error) -> timer.cancel());
    return asked;
  }

  private static @Nullable Place place(@Nullable SocketAddress told) {
    return told instanceof InetSocketAddress master
        ? new Place(master.getHostString(), master.getPort())
        : null;
  }
}
