package dev.lukko.jedis;

import dev.lukko.redis.protocol.RedisAddress;
import dev.lukko.redis.protocol.Secret;
import java.time.Duration;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;

/**
 * Connections of the node's own to one server.
 *
 * @param connectTimeout the limit of the connection itself, and of each step of its handshake
 */
record ServerConnections(RedisAddress address, Duration connectTimeout)
    implements JedisConnector.Connections {

  /** Password and files are read anew for each connection. */
  @Override
  public Connection take() {
    int timeoutMillis = Math.toIntExact(connectTimeout.toMillis());
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .timeoutMillis(timeoutMillis)
            .database(address.database())
            .clientName(address.clientName())
            .clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
    NewerJedis.withoutHello(config);
    Secret password = address.login().password();
    if (password != null) {
      config.user(address.login().user()).password(password.read());
    }
    return new Connection(
        new ServerSocketFactory(address.places().get(0), address.tls(), timeoutMillis),
        config.build());
  }

  @Override
  public void giveBack(Connection broken) {
    // it has ended
  }
}
