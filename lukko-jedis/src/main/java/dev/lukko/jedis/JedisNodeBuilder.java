package dev.lukko.jedis;

import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redis.protocol.NodeSettings;
import dev.lukko.redis.protocol.RedisAddress;
import dev.lukko.redis.protocol.RedisAddress.Kind;
import dev.lukko.redis.protocol.RedisLink;
import dev.lukko.redis.protocol.RedisUrl;
import dev.lukko.redis.protocol.ReleaseHints;
import dev.lukko.redis.protocol.ScriptedNode;
import dev.lukko.redis.protocol.Started;
import dev.lukko.time.Scheduler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

/**
 * Settings of {@link JedisNode}s, of the same names and meanings as those of lukko-redis. Each
 * setter checks at once.
 *
 * <p>Not thread-safe; may make several nodes.
 */
public final class JedisNodeBuilder {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final NodeSettings settings = new NodeSettings();
  private boolean closeClient;

  JedisNodeBuilder() {
    NewerJedis.check();
  }

  /** How keys are named; default {@link RedisKeyFormat#PREFIXED}. */
  public JedisNodeBuilder keyFormat(RedisKeyFormat keyFormat) {
    settings.setKeyFormat(keyFormat);
    return this;
  }

  /**
   * How long a counter is kept after the last grant or extension, but never for less than the ttl;
   * default 7 days.
   *
   * @throws IllegalArgumentException if below 1 ms or above 36500 days
   */
  public JedisNodeBuilder counterRetention(Duration counterRetention) {
    settings.setCounterRetention(counterRetention);
    return this;
  }

  /**
   * How long one attempt to connect may take, and how long the first answers on the connection;
   * default 1 s. A client of the caller's has a limit of its own for the making of connections; for
   * one that is in use it is waited no longer than this.
   *
   * @throws IllegalArgumentException if below 1 ms or above 10 min
   */
  public JedisNodeBuilder connectTimeout(Duration connectTimeout) {
    settings.setConnectTimeout(connectTimeout);
    return this;
  }

  /**
   * When a request without a reply is given up; default 10 s. If nothing at all came from the
   * server in that time, the connection is given up too. A lock client's own node timeout is
   * shorter; a reply that comes between the two is still seen.
   *
   * @throws IllegalArgumentException if below 1 ms or above 10 min
   */
  public JedisNodeBuilder commandTimeout(Duration commandTimeout) {
    settings.setCommandTimeout(commandTimeout);
    return this;
  }

  /**
   * The name of the node in messages; default its address without user and password.
   *
   * @throws IllegalArgumentException if empty, longer than 200 characters, or with control
   *     characters
   */
  public JedisNodeBuilder name(String name) {
    settings.setName(name);
    return this;
  }

  /** The user for addresses that name none; default none, which is the server's default user. */
  public JedisNodeBuilder user(String user) {
    settings.setUser(user);
    return this;
  }

  /** The password for addresses that name none. It is never shown. */
  public JedisNodeBuilder password(String password) {
    settings.setPassword(password);
    return this;
  }

  /**
   * The file that holds the password for addresses that name none, without the line break at its
   * end. It is read anew for each connection.
   *
   * @throws IllegalArgumentException if it cannot be read or is empty
   */
  public JedisNodeBuilder passwordFile(Path file) {
    settings.setPasswordFile(file);
    return this;
  }

  /**
   * The variable of the environment that holds the password for addresses that name none.
   *
   * @throws IllegalArgumentException if it is not set or empty
   */
  public JedisNodeBuilder passwordVariable(String variable) {
    settings.setPasswordVariable(variable);
    return this;
  }

  /**
   * The file of certificates, in PEM form, from which a server's must come; default: what the Java
   * platform trusts. Addresses must then begin with {@code rediss}.
   *
   * @throws IllegalArgumentException if it holds no certificate
   */
  public JedisNodeBuilder caCertificates(Path file) {
    settings.setCaCertificates(file);
    return this;
  }

  /**
   * What the client proves itself with to servers that ask for it; default nothing.
   *
   * @param certificate the certificate, then those between it and the authority, in PEM form
   * @param key its private key in PKCS#8 form, not encrypted
   * @throws IllegalArgumentException if a file does not hold what it must
   */
  public JedisNodeBuilder clientCertificate(Path certificate, Path key) {
    settings.setClientCertificate(certificate, key);
    return this;
  }

  /**
   * How the connections are named in the server's {@code CLIENT LIST}; default {@code lukko}.
   *
   * @throws IllegalArgumentException unless it has 1 to 100 characters from {@code !} to {@code ~}
   */
  public JedisNodeBuilder clientName(String clientName) {
    settings.setClientName(clientName);
    return this;
  }

  /** Whether the node closes the client that it was made {@link #over}; default no. */
  public JedisNodeBuilder closeClient(boolean closeClient) {
    this.closeClient = closeClient;
    return this;
  }

  /**
   * Connects to a server. Waits until the first attempt has ended and a first request has gone the
   * whole way: at most twice the connect timeout, and in a fresh process up to 5 s more for the
   * loading of classes. A server that is down or slow is no failure: the node goes on trying.
   *
   * @param url {@code redis://user:password@host:port/database}, or {@code rediss://} with TLS;
   *     parameters as for lukko-redis. Unix sockets, Sentinel and clusters are for lukko-redis
   *     alone
   * @throws IllegalArgumentException if the URL is malformed, its scheme is another one, or a file
   *     or variable that it names cannot be read
   */
  public JedisNode connect(String url) {
    return start(parse(url)).await(settings.connectTimeout());
  }

  /**
   * Connects to several servers at the same time; the whole waits no longer than for one server.
   *
   * @return the nodes in the order of the addresses
   * @throws IllegalArgumentException if an address is not accepted, or this builder has a name; no
   *     connection is made then
   */
  public List<JedisNode> connectAll(List<String> urls) {
    settings.checkNameForSeveral();
    List<RedisAddress> addresses = urls.stream().map(this::parse).toList();
    return Started.awaitAll(
        addresses.stream().map(this::start).toList(), settings.connectTimeout());
  }

  /**
   * Uses a client of the caller's: its server, its login, its TLS. As long as the node is open it
   * keeps one connection of the client's pool, and from the first wait on a second one, by which
   * hints about releases come; they are closed with the node. A pool of one or two connections
   * gives one only, and the node no hints. Requests do not pass through the client, so whatever it
   * does to try a command again does not happen to them: each is sent once. Waits as {@link
   * #connect} does.
   *
   * @param client a client of one server with a pool: a {@code RedisClient}, or any other that has
   *     a {@code PooledConnectionProvider}
   * @throws IllegalArgumentException if it is another client, such as one of a cluster, of
   *     Sentinel, of several databases or over one connection; the message says what to use
   */
  public JedisNode over(UnifiedJedis client) {
    PooledConnections pool =
        new PooledConnections(ClientPool.of(client), settings.connectTimeout());
    Runnable closing = closeClient ? client::close : () -> {};
    return start(pool, settings.nameOr(nameOf(client)), pool.haveRoomForHints(), closing)
        .await(settings.connectTimeout());
  }

  /** Clients do not tell their address; the node tells it when it is connected. */
  private static String nameOf(UnifiedJedis client) {
    return "jedis-" + Integer.toHexString(System.identityHashCode(client));
  }

  private RedisAddress parse(String url) {
    RedisAddress address = RedisUrl.parse(url, settings.access());
    if (address.kind() != Kind.SERVER) {
      throw new IllegalArgumentException(
          "url leads to "
              + address.name()
              + "; with Jedis it must begin with redis:// or rediss://, the rest is for lukko-redis");
    }
    return address;
  }

  private Started<JedisNode> start(RedisAddress address) {
    return start(
        new ServerConnections(address, settings.connectTimeout()),
        settings.nameOr(address.name()),
        true,
        () -> {});
  }

  private Started<JedisNode> start(
      JedisConnector.Connections connections, String name, boolean withHints, Runnable closing) {
    String threadName = "lukko-jedis-" + NUMBER.incrementAndGet();
    Scheduler threads = Scheduler.create(threadName);
    JedisConnector connector = new JedisConnector(connections, threads, threadName);
    RedisLink link =
        new RedisLink(
            connector,
            false,
            null,
            threads,
            name,
            settings.keyFormat().records(),
            settings.connectTimeout(),
            settings.commandTimeout());
    @Nullable ReleaseHints hints =
        withHints ? new ReleaseHints(connector::connectHints, name, threads) : null;
    ScriptedNode node =
        new ScriptedNode(
            name,
            settings.keyFormat(),
            settings.counterRetention(),
            link,
            hints,
            () -> {
              connector.close();
              closing.run();
              threads.close();
              return CompletableFuture.completedFuture(null);
            });
    link.connect();
    return new Started<>(new JedisNode(node), link, node::warmUp);
  }
}
