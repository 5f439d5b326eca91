package dev.lukko.jedis;

import static java.lang.System.Logger.Level.DEBUG;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * A connection of Jedis' that ends once and for all.
 *
 * <p>The driver's own makes a new socket when it is written to after its end. A request would then
 * reach a server that nobody has looked at, perhaps behind its own release. So whatever was written
 * is thrown away, not flushed, if the end came meanwhile.
 */
final class MortalConnection {
  private static final System.Logger LOG = System.getLogger(MortalConnection.class.getName());

  private final Connection connection;
  private final Runnable giveBack;
  private final AtomicBoolean buried = new AtomicBoolean();
  private volatile boolean ended;

  /**
   * A connection that is ready.
   *
   * @param giveBack called once, by {@link #bury}
   */
  MortalConnection(Connection connection, Runnable giveBack) {
    this.connection = connection;
    this.giveBack = giveBack;
  }

  /** Puts a request into the driver's buffer; may block. One thread at a time. */
  void write(ProtocolCommand command, String... arguments) {
    checkAlive();
    connection.sendCommand(command, arguments);
    checkAlive();
  }

  /** Sends what was written; may block. */
  void flush() {
    checkAlive();
    connection.getMany(0); // the driver flushes before it reads, here no reply at all
  }

  private void checkAlive() {
    if (ended) {
      end(); // the driver may have made another socket
      throw new JedisConnectionException("the connection has ended");
    }
  }

  /** Waits for the next reply without a limit of time; in a thread other than the writer's. */
  @Nullable Object read() {
    return Exchange.decoded(connection.getUnflushedObject());
  }

  /** Whoever waits for a reply has a limit of time, so reading has none. */
  void readWithoutLimit() {
    connection.setSoTimeout(0);
  }

  /** Ends it, at once: what is being read or written fails. */
  void end() {
    ended = true;
    try {
      NewerJedis.end(connection);
    } catch (IOException | RuntimeException gone) {
      LOG.log(DEBUG, "the connection had ended already", gone);
    }
  }

  /** Gives it back, broken, once nobody uses it any more. */
  void bury() {
    end();
    if (buried.compareAndSet(false, true)) {
      try {
        giveBack.run();
      } catch (RuntimeException closed) {
        LOG.log(DEBUG, "the pool did not want the connection back", closed);
      }
    }
  }
}
