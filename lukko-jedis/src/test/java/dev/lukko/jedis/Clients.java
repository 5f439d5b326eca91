package dev.lukko.jedis;

import java.net.URI;
import java.time.Duration;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.ConnectionProvider;
import redis.clients.jedis.providers.PooledConnectionProvider;

/** Clients of Jedis' own, as callers make them. */
final class Clients {

  private Clients() {}

  /** Over a provider with a pool, and with an executor that tries a command three times. */
  static UnifiedJedis retrying(String url) {
    URI uri = URI.create(url);
    return over(new PooledConnectionProvider(new HostAndPort(uri.getHost(), uri.getPort())));
  }

  @SuppressWarnings("deprecation") // whoever has such a client has made it so
  static UnifiedJedis over(ConnectionProvider provider) {
    return new UnifiedJedis(provider, 3, Duration.ofSeconds(5));
  }
}
