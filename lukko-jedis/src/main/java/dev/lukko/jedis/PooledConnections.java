package dev.lukko.jedis;

import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;

/** Connections from the pool of a client of the caller's; each is taken for good. */
record PooledConnections(RedisClient client) implements JedisConnector.Connections {

  @Override
  public Connection take() {
    return client.getPool().getResource();
  }

  /** The pool throws it away, and makes another one when it needs one. */
  @Override
  public void giveBack(Connection broken) {
    broken.setBroken();
    broken.close();
  }
}
