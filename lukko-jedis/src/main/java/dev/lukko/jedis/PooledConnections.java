package dev.lukko.jedis;

import java.time.Duration;
import java.util.NoSuchElementException;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.Pool;

/**
 * Connections from the pool of a client of the caller's; each is taken for good.
 *
 * @param patience how long one is waited for when all are in use
 */
record PooledConnections(Pool<Connection> pool, Duration patience)
    implements JedisConnector.Connections {

  /** The fewest connections a pool must be able to hold for a second one to be taken. */
  private static final int ROOM_FOR_HINTS = 3;

  @Override
  public Connection take() {
    try {
      return pool.borrowObject(patience);
    } catch (RuntimeException failed) {
      throw failed instanceof NoSuchElementException && isExhausted() ? exhausted(failed) : failed;
    } catch (Exception failed) {
      throw new JedisException("the client's pool has made no connection", failed);
    }
  }

  private boolean isExhausted() {
    return pool.getMaxTotal() >= 0 && pool.getNumActive() >= pool.getMaxTotal();
  }

  private JedisException exhausted(RuntimeException cause) {
    JedisException failure =
        new JedisException(
            "the client's pool has no connection to spare, all "
                + pool.getMaxTotal()
                + " are in use");
    failure.addSuppressed(cause);
    return failure;
  }

  /** Whether the caller is left at least one when two are taken. */
  boolean haveRoomForHints() {
    return pool.getMaxTotal() < 0 || pool.getMaxTotal() >= ROOM_FOR_HINTS;
  }

  /** The pool throws it away, and makes another one when it needs one. */
  @Override
  public void giveBack(Connection broken) {
    pool.returnBrokenResource(broken);
  }
}
