package dev.lukko.redis;

import dev.lukko.redis.protocol.Login;
import dev.lukko.redis.protocol.RedisAccess;
import dev.lukko.redis.protocol.RedisAddress;
import dev.lukko.redis.protocol.RedisAddress.Kind;
import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.redis.protocol.RedisAddress.Tls;
import dev.lukko.redis.protocol.Secret;
import dev.lukko.redis.protocol.TlsFiles;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslVerifyMode;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The address of a node in the driver's own form.
 *
 * @param kind what is at the address
 * @param server how to connect to the server; for a cluster, to its first one; for Sentinel, all
 *     but the place, which Sentinel tells
 * @param seeds the places at which to ask: the Sentinels, or servers of the cluster; else the
 *     server itself
 * @param master the name by which Sentinel knows the server, or empty
 * @param files of TLS
 * @param name the address without secrets
 */
record DriverAddress(
    Kind kind, RedisURI server, List<RedisURI> seeds, String master, TlsFiles files, String name) {

  /** The host of a server of which only Sentinel knows the place. */
  private static final String UNTOLD = "untold";

  DriverAddress {
    seeds = List.copyOf(seeds);
  }

  static DriverAddress of(RedisAddress address, Duration timeout) {
    RedisURI server = uri(address, address.login(), timeout);
    if (address.kind() == Kind.SOCKET) {
      server.setSocket(address.path());
    } else if (address.kind() != Kind.SENTINEL) {
      at(server, address.places().get(0));
    }
    List<RedisURI> seeds =
        switch (address.kind()) {
          case SERVER, SOCKET -> List.of(server);
          case SENTINEL ->
              address.places().stream()
                  .map(place -> at(sentinel(address, timeout), place))
                  .toList();
          case CLUSTER ->
              address.places().stream()
                  .map(place -> at(uri(address, address.login(), timeout), place))
                  .toList();
        };
    Tls tls = address.tls();
    return new DriverAddress(
        address.kind(),
        server,
        seeds,
        address.master(),
        tls == null ? TlsFiles.NONE : tls.files(),
        address.name());
  }

  /** Checks an address that is in the driver's form already, and copies it. */
  static DriverAddress of(RedisURI given, RedisAccess access, Duration timeout) {
    String master = given.getSentinelMasterId();
    boolean sentinel = master != null || !given.getSentinels().isEmpty();
    boolean socket = given.getSocket() != null;
    if (sentinel && (master == null || given.getSentinels().isEmpty())) {
      throw new IllegalArgumentException(
          "uri has only one of sentinelMasterId and sentinels; it must have both, or none");
    }
    if (!sentinel && !socket && (given.getHost() == null || given.getHost().isEmpty())) {
      throw new IllegalArgumentException("uri has no host; it must name one server");
    }
    RedisURI server = copy(given, timeout);
    if (server.getClientName() == null) {
      server.setClientName(access.clientName());
    }
    List<RedisURI> seeds =
        sentinel
            ? given.getSentinels().stream().map(each -> copy(each, timeout)).toList()
            : List.of(server);
    Kind kind = sentinel ? Kind.SENTINEL : socket ? Kind.SOCKET : Kind.SERVER;
    TlsFiles files = given.isSsl() ? access.files().checked() : TlsFiles.NONE;
    return new DriverAddress(
        kind, server, seeds, master == null ? "" : master, files, nameOf(kind, given, master));
  }

  /** Later changes to what was given have no effect. The place may be missing. */
  private static RedisURI copy(RedisURI given, Duration timeout) {
    RedisURI.Builder copy =
        given.getSocket() != null
            ? RedisURI.Builder.socket(given.getSocket())
            : RedisURI.Builder.redis(given.getHost() == null ? UNTOLD : given.getHost());
    if (given.getSocket() == null && given.getHost() != null) {
      copy.withPort(given.getPort());
    }
    if (given.getClientName() != null) {
      copy.withClientName(given.getClientName());
    }
    return copy.withSsl(given)
        .withAuthentication(given)
        .withDatabase(given.getDatabase())
        .withTimeout(timeout)
        .build();
  }

  private static String nameOf(Kind kind, RedisURI uri, @Nullable String master) {
    List<RedisURI> hosts = kind == Kind.SENTINEL ? uri.getSentinels() : List.of(uri);
    return new RedisAddress(
            kind,
            hosts.stream()
                .filter(each -> each.getHost() != null)
                .map(each -> new Place(each.getHost(), each.getPort()))
                .toList(),
            uri.getSocket() == null ? "" : uri.getSocket(),
            master == null ? "" : master,
            null,
            uri.getDatabase(),
            Login.NONE,
            Login.NONE,
            "")
        .name();
  }

  /** The server at another place, with all else the same. */
  RedisURI serverAt(Place place) {
    return at(copy(server, server.getTimeout()), place);
  }

  private static RedisURI uri(RedisAddress address, Login login, Duration timeout) {
    RedisURI uri = new RedisURI();
    uri.setTimeout(timeout);
    uri.setClientName(address.clientName());
    uri.setDatabase(address.database());
    Secret password = login.password();
    if (password != null) {
      uri.setCredentialsProvider(new Password(login.user(), password));
    }
    Tls tls = address.tls();
    if (tls != null) {
      uri.setSsl(true);
      uri.setVerifyPeer(tls.checksHost() ? SslVerifyMode.FULL : SslVerifyMode.CA);
    }
    return uri;
  }

  private static RedisURI sentinel(RedisAddress address, Duration timeout) {
    RedisURI uri = uri(address, address.sentinelLogin(), timeout);
    uri.setDatabase(0); // Sentinel has none
    return uri;
  }

  private static RedisURI at(RedisURI uri, Place place) {
    uri.setHost(place.host());
    uri.setPort(place.port());
    return uri;
  }

  @Override
  public String toString() {
    return name;
  }

  /** Reads a password whenever a connection is made. */
  private record Password(@Nullable String user, Secret secret)
      implements ImmediateRedisCredentialsProvider {
    @Override
    public RedisCredentials resolveCredentialsNow() {
      return RedisCredentials.just(user, secret.read());
    }
  }
}
