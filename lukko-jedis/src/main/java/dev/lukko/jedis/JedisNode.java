package dev.lukko.jedis;

import dev.lukko.redis.protocol.DriverNode;
import dev.lukko.redis.protocol.ScriptedNode;
import dev.lukko.spi.Capability;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/**
 * A lock node on one Redis or Valkey server (version 6 or later), through the driver Jedis.
 *
 * <p>It does what {@code RedisNode} of lukko-redis does, by the same scripts and keys: nodes of
 * both kinds share locks. It starts in a fraction of the time and needs none of Netty, which suits
 * commands and short programs; and it fits where Jedis is used anyway.
 *
 * <p>Each node holds one connection, used by two threads, and never writes a request twice.
 * Requests leave in their order and at once, so that a release is behind its grant even at a server
 * that hangs. Callers do not block: whatever is not answered within the command timeout is given
 * up. A server that is down is not an error, the node joins when it is up.
 *
 * <p>Hints about releases ({@link Capability#WATCH}) come by one more connection, from the first
 * wait on. Over a client of the caller's that is another one of its pool; a pool with no room for
 * it gives none, and those who wait ask again, at the latest when the holder's time is over.
 *
 * <p>Thread-safe. Stages complete in a thread of the node, which must not be blocked: daemons named
 * {@code lukko-jedis-...}, at most six for each node, which end with it.
 */
public final class JedisNode extends DriverNode {
  JedisNode(ScriptedNode node) {
    super(node);
  }

  /** A builder with the default settings. */
  public static JedisNodeBuilder builder() {
    return new JedisNodeBuilder();
  }

  /**
   * Connects with the default settings, see {@link JedisNodeBuilder#connect(String)}.
   *
   * @param url {@code redis://host:port/db}, or {@code rediss://} with TLS; user and password
   *     before the host, if any
   */
  public static JedisNode connect(String url) {
    return builder().connect(url);
  }

  /**
   * Connects to several servers at the same time with the default settings, see {@link
   * JedisNodeBuilder#connectAll}.
   */
  public static List<JedisNode> connectAll(String... urls) {
    return builder().connectAll(List.of(urls));
  }

  /**
   * Uses a client of the caller's with the default settings, see {@link
   * JedisNodeBuilder#over(UnifiedJedis)}.
   */
  public static JedisNode over(UnifiedJedis client) {
    return builder().over(client);
  }

  /**
   * Ends the connections and the threads; waits up to 3 s for them, but not in a thread of a node.
   * A client of the caller's stays open, unless the builder was told otherwise.
   */
  @Override
  public void close() {
    if (Thread.currentThread() instanceof DriverThread) {
      end(); // it would wait for itself
    } else {
      super.close();
    }
  }
}
