package dev.lukko.redis;

import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redis.protocol.ClusterLink;
import dev.lukko.redis.protocol.Connector;
import dev.lukko.redis.protocol.HintConnection;
import dev.lukko.redis.protocol.Link;
import dev.lukko.redis.protocol.RedisAddress.Kind;
import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.redis.protocol.RedisLink;
import dev.lukko.redis.protocol.ReleaseHints;
import dev.lukko.redis.protocol.ScriptedNode;
import dev.lukko.redis.protocol.Started;
import dev.lukko.redis.protocol.TlsFiles;
import dev.lukko.redis.protocol.Wire;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import io.netty.handler.ssl.SslContextBuilder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Makes a node of an address, and begins to connect it.
 *
 * @param keyFormat how keys are named
 * @param counterRetention how long counters are kept
 * @param connectTimeout how long one attempt may take
 * @param commandTimeout when a request without a reply is given up
 */
record NodeStart(
    RedisKeyFormat keyFormat,
    Duration counterRetention,
    Duration connectTimeout,
    Duration commandTimeout) {
  private static final int REQUEST_QUEUE = 4 * Wire.MAX_OUTSTANDING;

  /**
   * Starts.
   *
   * @param callers the client of which threads and options are taken, or null
   * @throws IllegalArgumentException if the address cannot be reached for lack of a library
   */
  Started<RedisNode> start(DriverAddress address, String name, @Nullable RedisClient callers) {
    if (address.kind() == Kind.SOCKET) {
      NativeSockets.require(name);
    }
    ClientResources resources =
        callers != null ? callers.getResources() : SharedResources.acquire();
    RedisClient client =
        new OrderedClient(resources, address.server(), options(address.files(), callers));
    Supplier<CompletableFuture<Void>> close =
        () -> {
          CompletableFuture<Void> ended = client.shutdownAsync();
          return callers != null
              ? ended
              : ended.exceptionally(error -> null).thenCompose(done -> SharedResources.release());
        };
    return address.kind() == Kind.CLUSTER
        ? cluster(client, address, name, close)
        : single(client, address, name, close);
  }

  /**
   * Connects for plain questions.
   *
   * @throws dev.lukko.LockException if the server cannot be reached
   */
  RedisProbe probe(DriverAddress address) {
    RedisClient client =
        new OrderedClient(
            SharedResources.acquire(), address.server(), options(address.files(), null));
    // the older form of replies has fewer kinds
    client.setOptions(client.getOptions().mutate().protocolVersion(ProtocolVersion.RESP2).build());
    return RedisProbe.open(address, client, connectTimeout);
  }

  private Started<RedisNode> single(
      RedisClient client,
      DriverAddress address,
      String name,
      Supplier<CompletableFuture<Void>> close) {
    boolean sentinel = address.kind() == Kind.SENTINEL;
    Connector connector =
        sentinel
            ? new SentinelConnector(client, address, connectTimeout)
            : new DirectConnector(client, address.server());
    RedisLink link = link(client, connector, sentinel, null, name);
    link.connect();
    return node(client, link, connector::connectHints, name, close);
  }

  private Started<RedisNode> cluster(
      RedisClient client,
      DriverAddress address,
      String name,
      Supplier<CompletableFuture<Void>> close) {
    ClusterLink link =
        new ClusterLink(
            (place, cluster) -> {
              RedisLink made =
                  link(
                      client,
                      new DirectConnector(client, address.serverAt(place)),
                      false,
                      cluster,
                      place.toString());
              made.connect();
              return made;
            },
            address.seeds().stream()
                .map(seed -> new Place(seed.getHost(), seed.getPort()))
                .toList());
    link.connect();
    return node(client, link, inTurn(client, address, link), name, close);
  }

  /** Any server of a cluster passes on what is published; one that is down is left for the next. */
  private static Supplier<? extends CompletionStage<? extends HintConnection>> inTurn(
      RedisClient client, DriverAddress address, ClusterLink link) {
    AtomicInteger turn = new AtomicInteger();
    return () -> {
      List<Place> places = link.places();
      Place place = places.get(Math.floorMod(turn.getAndIncrement(), places.size()));
      return new DirectConnector(client, address.serverAt(place)).connectHints();
    };
  }

  private RedisLink link(
      RedisClient client,
      Connector connector,
      boolean wanders,
      RedisLink.@Nullable Cluster cluster,
      String name) {
    return new RedisLink(
        connector,
        wanders,
        cluster,
        new NettyTimers(client.getResources()),
        name,
        keyFormat.records(),
        connectTimeout,
        commandTimeout);
  }

  private Started<RedisNode> node(
      RedisClient client,
      Link link,
      Supplier<? extends CompletionStage<? extends HintConnection>> subscriber,
      String name,
      Supplier<CompletableFuture<Void>> close) {
    ReleaseHints hints = new ReleaseHints(subscriber, name, new NettyTimers(client.getResources()));
    ScriptedNode node = new ScriptedNode(name, keyFormat, counterRetention, link, hints, close);
    return new Started<>(new RedisNode(node), link, node::warmUp);
  }

  private ClientOptions options(TlsFiles files, @Nullable RedisClient callers) {
    ClientOptions.Builder options =
        callers != null ? callers.getOptions().mutate() : ClientOptions.builder();
    SocketOptions sockets = callers != null ? callers.getOptions().getSocketOptions() : keepAlive();
    if (callers == null || !files.isEmpty()) {
      options.sslOptions(
          SslOptions.builder()
              .jdkSslProvider()
              .handshakeTimeout(connectTimeout)
              .sslContext(context -> configure(context, files))
              .build());
    }
    NewerLettuce.stayPut(options);
    return options
        // At most once: a connection that breaks is not revived, and what was under way fails.
        .autoReconnect(false)
        .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
        .pingBeforeActivateConnection(false)
        .requestQueueSize(REQUEST_QUEUE)
        .publishOnScheduler(false)
        // Each request has a timeout of its own, which also gives up a dead connection.
        .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
        .socketOptions(like(sockets).connectTimeout(connectTimeout).tcpNoDelay(true).build())
        .build();
  }

  /** In older drivers their own copy keeps neither the times of the probes nor the user timeout. */
  private static SocketOptions.Builder like(SocketOptions sockets) {
    SocketOptions.Builder copy = sockets.mutate();
    SocketOptions.KeepAliveOptions probes = sockets.getKeepAlive();
    if (probes.isEnabled() && !isPlain(probes)) {
      copy.keepAlive(probes);
    }
    if (sockets.isEnableTcpUserTimeout()) {
      copy.tcpUserTimeout(sockets.getTcpUserTimeout());
    }
    return copy;
  }

  /** Whether the times are those that the driver leaves to the operating system. */
  private static boolean isPlain(SocketOptions.KeepAliveOptions probes) {
    SocketOptions.KeepAliveOptions plain = SocketOptions.KeepAliveOptions.builder().build();
    return probes.getIdle().equals(plain.getIdle())
        && probes.getInterval().equals(plain.getInterval())
        && probes.getCount() == plain.getCount();
  }

  /** Called for each connection, so that renewed certificates are used. */
  private static void configure(SslContextBuilder context, TlsFiles files) {
    TrustManagerFactory trust = files.trust();
    if (trust != null) {
      context.trustManager(trust);
    }
    KeyManagerFactory keys = files.keys();
    if (keys != null) {
      context.keyManager(keys);
    }
  }

  /**
   * A link that is dead while nothing is asked is noticed after 8 s. A runtime without the module
   * that has the times of the probes leaves them to the operating system: newer versions of the
   * driver do not connect when they are told times which they cannot set.
   */
  private static SocketOptions keepAlive() {
    if (!NewerLettuce.has("jdk.net.ExtendedSocketOptions")) {
      return SocketOptions.builder().keepAlive(true).build();
    }
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
}
