package dev.lukko.redis;

import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redis.protocol.NodeSettings;
import dev.lukko.redis.protocol.RedisAddress.Kind;
import dev.lukko.redis.protocol.RedisUrl;
import dev.lukko.redis.protocol.Started;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of {@link RedisNode}s. Each setter checks at once.
 *
 * <p>Not thread-safe; may make several nodes.
 */
public final class RedisNodeBuilder {
  private final NodeSettings settings = new NodeSettings();

  RedisNodeBuilder() {
    NewerLettuce.check();
  }

  /** How keys are named; default {@link RedisKeyFormat#PREFIXED}. */
  public RedisNodeBuilder keyFormat(RedisKeyFormat keyFormat) {
    settings.setKeyFormat(keyFormat);
    return this;
  }

  /**
   * How long a counter is kept after the last grant or extension, but never for less than the ttl;
   * default 7 days.
   *
   * @throws IllegalArgumentException if below 1 ms or above 36500 days
   */
  public RedisNodeBuilder counterRetention(Duration counterRetention) {
    settings.setCounterRetention(counterRetention);
    return this;
  }

  /**
   * How long one attempt to connect may take, and how long the first answers on the connection;
   * default 1 s.
   *
   * @throws IllegalArgumentException if below 1 ms or above 10 min
   */
  public RedisNodeBuilder connectTimeout(Duration connectTimeout) {
    settings.setConnectTimeout(connectTimeout);
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
    settings.setCommandTimeout(commandTimeout);
    return this;
  }

  /**
   * The name of the node in messages; default its address without user and password.
   *
   * @throws IllegalArgumentException if empty, longer than 200 characters, or with control
   *     characters
   */
  public RedisNodeBuilder name(String name) {
    settings.setName(name);
    return this;
  }

  /**
   * The user of the server's access control list, for addresses that name none; default none, which
   * is the server's default user.
   */
  public RedisNodeBuilder user(String user) {
    settings.setUser(user);
    return this;
  }

  /**
   * The password for addresses that name none. It is never shown. Prefer {@link #passwordFile} or
   * {@link #passwordVariable}, which keep it out of code and heap dumps.
   */
  public RedisNodeBuilder password(String password) {
    settings.setPassword(password);
    return this;
  }

  /**
   * The file that holds the password for addresses that name none, without the line break at its
   * end. It is read anew for each connection, so that a password can be changed.
   *
   * @throws IllegalArgumentException if it cannot be read or is empty
   */
  public RedisNodeBuilder passwordFile(Path file) {
    settings.setPasswordFile(file);
    return this;
  }

  /**
   * The variable of the environment that holds the password for addresses that name none.
   *
   * @throws IllegalArgumentException if it is not set or empty
   */
  public RedisNodeBuilder passwordVariable(String variable) {
    settings.setPasswordVariable(variable);
    return this;
  }

  /**
   * The file with the password of the Sentinels, read as {@link #passwordFile} is; default none.
   *
   * @param user the user of the Sentinels, or null for their default one
   * @throws IllegalArgumentException if the file cannot be read or is empty
   */
  public RedisNodeBuilder sentinelLogin(@Nullable String user, Path passwordFile) {
    settings.setSentinelLogin(user, passwordFile);
    return this;
  }

  /**
   * The file of certificates, in PEM form, from which a server's must come; default: what the Java
   * platform trusts. Addresses must then begin with {@code rediss}. The file is read anew for each
   * connection.
   *
   * @throws IllegalArgumentException if it holds no certificate
   */
  public RedisNodeBuilder caCertificates(Path file) {
    settings.setCaCertificates(file);
    return this;
  }

  /**
   * What the client proves itself with to servers that ask for it; default nothing. Both files are
   * read anew for each connection.
   *
   * @param certificate the certificate, then those between it and the authority, in PEM form
   * @param key its private key in PKCS#8 form, not encrypted
   * @throws IllegalArgumentException if a file does not hold what it must
   */
  public RedisNodeBuilder clientCertificate(Path certificate, Path key) {
    settings.setClientCertificate(certificate, key);
    return this;
  }

  /**
   * How the connections are named in the server's {@code CLIENT LIST}; default {@code lukko}.
   *
   * @throws IllegalArgumentException unless it has 1 to 100 characters from {@code !} to {@code ~}
   */
  public RedisNodeBuilder clientName(String clientName) {
    settings.setClientName(clientName);
    return this;
  }

  /**
   * Connects to a server. Waits until the first attempt has ended and a first request has gone the
   * whole way: at most twice the connect timeout, and in a fresh process up to 5 s more for the
   * loading of classes. A server that is down or slow is no failure: the node goes on trying.
   *
   * <ul>
   *   <li>{@code redis://user:password@host:port/database}, or {@code rediss://} with TLS: a server
   *   <li>{@code redis-socket://user:password@/path?database=number}: a server by a Unix socket,
   *       for which Netty's native transport must be there
   *   <li>{@code redis-sentinel://host:port,host:port/database?sentinelMasterId=name}, or {@code
   *       rediss-sentinel://}: whichever server Sentinel names; a failover can lose locks
   *   <li>{@code redis-cluster://host:port,host:port}, or {@code rediss-cluster://}: a cluster as
   *       the only node of a client; a failover can lose locks
   * </ul>
   *
   * <p>Parameters behind a question mark: {@code user}, {@code passwordFile}, {@code passwordEnv},
   * {@code clientName}; {@code sentinelUser}, {@code sentinelPasswordFile}, {@code
   * sentinelPasswordEnv}; with TLS {@code cacert}, {@code cert}, {@code key}, and {@code
   * verifyPeer=CA} for certificates that do not name the host.
   *
   * @param url the address; what has a meaning in a URL is percent-encoded
   * @throws IllegalArgumentException if the URL is malformed, its scheme is another one, or a file
   *     or variable that it names cannot be read
   */
  public RedisNode connect(String url) {
    return start(parse(url), null).await(settings.connectTimeout());
  }

  /**
   * Connects to a server, as {@link #connect(String)} does. What the address says goes before what
   * this builder says; files of TLS and the client's name are taken from here.
   *
   * @param uri the address of a server, or of Sentinels; later changes to it have no effect
   * @throws IllegalArgumentException if it names no server
   */
  public RedisNode connect(RedisURI uri) {
    return start(DriverAddress.of(uri, settings.access(), settings.connectTimeout()), null)
        .await(settings.connectTimeout());
  }

  /**
   * Connects as {@link #connect(String)} does, with the threads and the options (TLS, protocol,
   * sockets) of a client of the caller's. Its settings for reconnecting are not used, since they
   * would send requests twice. The client is not closed with the node.
   *
   * @throws IllegalArgumentException if the address names no server
   */
  public RedisNode over(RedisClient client, RedisURI uri) {
    return start(DriverAddress.of(uri, settings.access(), settings.connectTimeout()), client)
        .await(settings.connectTimeout());
  }

  /**
   * Connects to several servers at the same time; the whole waits no longer than for one server.
   *
   * @return the nodes in the order of the addresses
   * @throws IllegalArgumentException if an address is not accepted, or this builder has a name; no
   *     connection is made then
   */
  public List<RedisNode> connectAll(List<String> urls) {
    settings.checkNameForSeveral();
    List<DriverAddress> addresses = urls.stream().map(this::parse).toList();
    return Started.awaitAll(
        addresses.stream().map(address -> start(address, null)).toList(),
        settings.connectTimeout());
  }

  /**
   * Connects for plain questions to a server, beside any node. Waits at most the connect timeout.
   *
   * @param url as for {@link #connect(String)}
   * @throws IllegalArgumentException if the URL is not accepted
   * @throws dev.lukko.LockException if the server cannot be reached; says why
   */
  public RedisProbe probe(String url) {
    DriverAddress address = parse(url);
    return CallersThread.keptClean(() -> start().probe(address));
  }

  private NodeStart start() {
    return new NodeStart(
        settings.keyFormat(),
        settings.counterRetention(),
        settings.connectTimeout(),
        settings.commandTimeout());
  }

  private DriverAddress parse(String url) {
    DriverAddress address =
        DriverAddress.of(RedisUrl.parse(url, settings.access()), settings.connectTimeout());
    if (address.kind() == Kind.SOCKET) {
      NativeSockets.require(address.name());
    }
    return address;
  }

  private Started<RedisNode> start(DriverAddress address, @Nullable RedisClient callers) {
    return CallersThread.keptClean(
        () -> start().start(address, settings.nameOr(address.name()), callers));
  }
}
