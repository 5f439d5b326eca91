package dev.lukko.compat;

import dev.lukko.jedis.JedisNode;
import dev.lukko.spi.LockNode;
import java.net.URI;
import java.time.Duration;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.PooledConnectionProvider;

/** Over the pool of a client that the application has made. */
class JedisPoolLineTest extends DriverLineContract {

  @Override
  LockNode connect(String url) {
    URI uri = URI.create(url);
    return JedisNode.builder()
        .connectTimeout(Duration.ofSeconds(10))
        .commandTimeout(Duration.ofSeconds(1))
        .closeClient(true)
        .over(client(new HostAndPort(uri.getHost(), uri.getPort())));
  }

  @SuppressWarnings("deprecation") // what all lines have
  private static UnifiedJedis client(HostAndPort server) {
    return new UnifiedJedis(new PooledConnectionProvider(server), 3, Duration.ofSeconds(5));
  }
}
