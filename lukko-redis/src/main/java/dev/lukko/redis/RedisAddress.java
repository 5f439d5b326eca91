package dev.lukko.redis;

import io.lettuce.core.RedisURI;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The address of one server: checked, with a name that can be shown. */
record RedisAddress(RedisURI uri, String name) {
  private static final Set<String> SCHEMES = Set.of("redis", "rediss", "redis-socket");
  private static final String RULE =
      "; it must be redis://host:port/db, rediss://host:port/db or redis-socket:///path";

  /** Checks a URL; its password is not shown in what is thrown. */
  static RedisAddress parse(@Nullable String url) {
    if (url == null) {
      throw new IllegalArgumentException("url is null" + RULE);
    }
    String shown = "url \"" + url.replaceAll("//.*@", "//***@") + "\"";
    URI parsed;
    try {
      parsed = new URI(url);
    } catch (URISyntaxException e) {
      // its message and its cause would show the password
      throw new IllegalArgumentException(shown + " is not a URL" + RULE);
    }
    if (parsed.getScheme() == null || !SCHEMES.contains(parsed.getScheme())) {
      throw new IllegalArgumentException(shown + " has an unknown scheme" + RULE);
    }
    if (parsed.getScheme().equals("redis-socket")) {
      if (parsed.getPath() == null || parsed.getPath().length() < 2) {
        throw new IllegalArgumentException(shown + " has no path" + RULE);
      }
    } else {
      checkHostPortDatabase(parsed, shown);
    }
    RedisURI uri;
    try {
      uri = RedisURI.create(parsed);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(shown + " is not understood" + RULE);
    }
    return of(uri);
  }

  private static void checkHostPortDatabase(URI parsed, String shown) {
    if (parsed.getHost() == null) {
      throw new IllegalArgumentException(shown + " has no valid host" + RULE);
    }
    if (parsed.getPort() == 0 || parsed.getPort() > 65_535) {
      throw new IllegalArgumentException(shown + " has no port from 1 to 65535" + RULE);
    }
    String path = parsed.getPath() == null ? "" : parsed.getPath();
    if (!path.matches("/?|/\\d{1,6}")) {
      throw new IllegalArgumentException(
          shown + " has a path that is not the number of a database" + RULE);
    }
  }

  /** Checks an address in the driver's own form. */
  static RedisAddress of(RedisURI uri) {
    if (uri.getSentinelMasterId() != null || !uri.getSentinels().isEmpty()) {
      throw new IllegalArgumentException(
          "uri asks Sentinel for the address; it must name one server, since a node is one server"
              + " and not whichever replica was promoted last");
    }
    boolean socket = uri.getSocket() != null;
    if (!socket && (uri.getHost() == null || uri.getHost().isEmpty())) {
      throw new IllegalArgumentException("uri has no host; it must name one server");
    }
    String place = socket ? uri.getSocket() : uri.getHost() + ":" + uri.getPort();
    String database = uri.getDatabase() == 0 ? "" : (socket ? "#" : "/") + uri.getDatabase();
    return new RedisAddress(uri, place + database);
  }

  /** A copy for the driver, so that what the caller does with its own later changes nothing. */
  RedisURI uriWithTimeout(Duration connectTimeout) {
    RedisURI copy = RedisURI.builder(uri).withTimeout(connectTimeout).build();
    if (copy.getClientName() == null) {
      copy.setClientName("lukko");
    }
    return copy;
  }
}
