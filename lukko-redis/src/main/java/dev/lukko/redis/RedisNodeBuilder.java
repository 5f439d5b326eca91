package dev.lukko.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Settings of {@link RedisNode}s. Each setter checks at once.
 *
 * <p>Not thread-safe; may make several nodes.
 */
public final class RedisNodeBuilder {
  private static final Duration MAX_TIMEOUT = Duration.ofMinutes(10);
  private static final Duration MAX_RETENTION = Duration.ofDays(36_500);
  private static final int REQUEST_QUEUE = 4 * Wire.MAX_OUTSTANDING;
  private static final int MAX_NAME_LENGTH = 200;

  private RedisKeyFormat keyFormat = RedisKeyFormat.PREFIXED;
  private Duration counterRetention = Duration.ofDays(7);
  private Duration connectTimeout = Duration.ofSeconds(1);
  private Duration commandTimeout = Duration.ofSeconds(10);
  private @Nullable String name;

  RedisNodeBuilder() {}

  /** How keys are named; default {@link RedisKeyFormat#PREFIXED}. */
  public RedisNodeBuilder keyFormat(RedisKeyFormat keyFormat) {
    this.keyFormat = keyFormat;
    return this;
  }

  /**
   * How long a counter is kept after the last grant or extension, but never for less than the ttl;
   * default 7 days.
   *
   * @throws IllegalArgumentException if below 1 ms or above 36500 days
   */
  public RedisNodeBuilder counterRetention(Duration counterRetention) {
    this.counterRetention = checked("counterRetention", counterRetention, MAX_RETENTION);
    return this;
  }

  /**
   * How long one attempt to connect may take, and how long {@code connect} waits for the first one;
   * default 1 s.
   *
   * @throws IllegalArgumentException if below 1 ms or above 10 min
   */
  public RedisNodeBuilder connectTimeout(Duration connectTimeout) {
    this.connectTimeout = checked("connectTimeout", connectTimeout, MAX_TIMEOUT);
    return this;
  }

  /**
   * When a request without a reply is given up; default 10 s. If nothing at all came from the
   * server in that time, the connection is given up too. A client's own node timeout is shorter; a
   * reply that comes between the two is still seen.
   *
   * @throws IllegalArgumentException if below 1 ms or above 10 min
   */
  public RedisNodeBuilder commandTimeout(Duration commandTimeout) {
    this.commandTimeout = checked("commandTimeout", commandTimeout, MAX_TIMEOUT);
    return this;
  }

  /**
   * The name of the node in messages; default its address without user and password.
   *
   * @throws IllegalArgumentException if empty, longer than 200 characters, or with control
   *     characters
   */
  public RedisNodeBuilder name(String name) {
    if (name.isEmpty()
        || name.length() > MAX_NAME_LENGTH
        || name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "name has "
              + name.length()
              + " characters; it must have 1 to "
              + MAX_NAME_LENGTH
              + ", and no control characters");
    }
    this.name = name;
    return this;
  }

  /**
   * Connects to a server. Waits until the first attempt has ended, at most the connect timeout. A
   * server that is down or slow is no failure: the node goes on trying.
   *
   * @param url {@code redis://host:port/db}, {@code rediss://} with TLS, or {@code
   *     redis-socket:///path}; user and password before the host, if any
   * @throws IllegalArgumentException if the URL is malformed or its scheme is another one
   */
  public RedisNode connect(String url) {
    return awaitFirst(start(RedisAddress.parse(url), null));
  }

  /**
   * Connects to a server, as {@link #connect(String)} does.
   *
   * @param uri the address; later changes to it have no effect
   * @throws IllegalArgumentException if it names Sentinel, or no server
   */
  public RedisNode connect(RedisURI uri) {
    return awaitFirst(start(RedisAddress.of(uri), null));
  }

  /**
   * Connects as {@link #connect(String)} does, with the threads and the options (TLS, protocol,
   * sockets) of a client of the caller's. Its settings for reconnecting are not used, since they
   * would send requests twice. The client is not closed with the node.
   *
   * @throws IllegalArgumentException if the address names Sentinel, or no server
   */
  public RedisNode connect(RedisClient client, RedisURI uri) {
    return awaitFirst(start(RedisAddress.of(uri), client));
  }

  /**
   * Connects to several servers at the same time; the whole waits no longer than one connect
   * timeout.
   *
   * @return the nodes in the order of the addresses
   * @throws IllegalArgumentException if an address is not accepted, or this builder has a name; no
   *     connection is made then
   */
  public List<RedisNode> connectAll(List<String> urls) {
    if (name != null) {
      throw new IllegalArgumentException(
          "name is \"" + name + "\"; it must not be set for several nodes, each has its own");
    }
    List<RedisAddress> addresses = urls.stream().map(RedisAddress::parse).toList();
    List<Started> started = new ArrayList<>();
    for (RedisAddress address : addresses) {
      started.add(start(address, null));
    }
    long deadlineNanos = System.nanoTime() + connectTimeout.toNanos();
    for (Started each : started) {
      each.link().awaitFirstTry(deadlineNanos - System.nanoTime());
    }
    return started.stream().map(Started::node).toList();
  }

  private record Started(RedisNode node, RedisLink link) {}

  private RedisNode awaitFirst(Started started) {
    started.link().awaitFirstTry(connectTimeout.toNanos());
    return started.node();
  }

  private Started start(RedisAddress address, @Nullable RedisClient callers) {
    RedisURI uri = address.uriWithTimeout(connectTimeout);
    ClientResources resources =
        callers != null ? callers.getResources() : SharedResources.acquire();
    RedisClient client = new OrderedClient(resources, uri, options(callers));
    Supplier<CompletableFuture<Void>> close =
        () -> {
          CompletableFuture<Void> ended = client.shutdownAsync();
          return callers != null
              ? ended
              : ended.exceptionally(error -> null).thenCompose(done -> SharedResources.release());
        };
    String shown = name != null ? name : address.name();
    RedisLink link =
        new RedisLink(client, uri, shown, keyFormat.marker(), connectTimeout, commandTimeout);
    ReleaseHints hints =
        new ReleaseHints(
            () -> client.connectPubSubAsync(StringCodec.UTF8, uri), shown, resources.timer());
    link.connect();
    return new Started(new RedisNode(shown, keyFormat, counterRetention, link, hints, close), link);
  }

  private ClientOptions options(@Nullable RedisClient callers) {
    ClientOptions.Builder options =
        callers != null ? callers.getOptions().mutate() : ClientOptions.builder();
    SocketOptions sockets = callers != null ? callers.getOptions().getSocketOptions() : keepAlive();
    return options
        // At most once: a connection that breaks is not revived, and what was under way fails.
        .autoReconnect(false)
        .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
        .pingBeforeActivateConnection(false)
        .requestQueueSize(REQUEST_QUEUE)
        .publishOnScheduler(false)
        // Each request has a timeout of its own, which also gives up a dead connection.
        .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
        .maintNotificationsConfig(MaintNotificationsConfig.disabled())
        .socketOptions(sockets.mutate().connectTimeout(connectTimeout).tcpNoDelay(true).build())
        .build();
  }

  /** A link that is dead while nothing is asked is noticed after 8 s. */
  private static SocketOptions keepAlive() {
    return SocketOptions.builder()
        .keepAlive(
            SocketOptions.KeepAliveOptions.builder()
                .enable()
                .idle(Duration.ofSeconds(5))
                .interval(Duration.ofSeconds(1))
                .count(3)
                .build())
        .build();
  }

  private static Duration checked(String field, @Nullable Duration value, Duration max) {
    if (value == null || value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          field + " is " + value + "; it must be from 1 ms to " + max);
    }
    return value;
  }
}
