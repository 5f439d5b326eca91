package dev.lukko.redis;

import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redis.protocol.DriverNode;
import dev.lukko.redis.protocol.ScriptedNode;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.List;

/**
 * A lock node on one Redis or Valkey server (version 6 or later), through the driver Lettuce.
 *
 * <p>Each verb is one script at the server and costs one round trip; newer servers extend and
 * release plain exclusive locks by commands of their own. Requests are sent once: there is no
 * replay after a reconnect, and a request that was under way when a connection broke has an unknown
 * outcome. A server that is down is not an error: the node tries to connect again, at least once a
 * second, and meanwhile answers at once that it has not been asked. Releases are the exception to
 * both: the release of an entry that may be at the server is kept while its outcome is open, and
 * sent again, on a new connection before any other request about a lock. If the connection in use
 * is silent (for a quarter of the shortest ttl, at least 250 ms and at most 1 s) the server is
 * asked on a second one, which takes its place if that is answered first.
 *
 * <p>A release is published on a channel of the resource; see {@link RedisKeyFormat}. Whoever waits
 * subscribes to it, on one more connection.
 *
 * <p><b>Servers that forget.</b> A small key holds a record for each fleet that the server serves:
 * its members, the run of the server that may vote, and since when. Every grant and extension
 * compares it in the same step with what its client has seen, so that a server that was flushed,
 * has evicted it, was restarted, or is another one than before does not vote until the client has
 * looked at it. The first question on each connection is who the server is: a replica, and another
 * server at an address that has led to a different one before, get no requests. A node of a cluster
 * keeps no record, and can be the only node of a client but not one of several.
 *
 * <p><b>Rights.</b> {@link RedisRights} has the line that makes a user with the least rights. With
 * {@code config|get} besides, the node can also tell how the server persists.
 *
 * <p>Readers' entries are looked through one by one at the server with each request for their
 * resource, so they suit hundreds of readers at a time rather than many thousands.
 *
 * <p>Thread-safe. Stages complete in a thread of the driver, which must not be blocked. All nodes
 * of a process share their threads, daemons named {@code lukko-redis-...}, which end when the last
 * node is closed.
 */
public final class RedisNode extends DriverNode {
  RedisNode(ScriptedNode node) {
    super(node);
  }

  /** A builder with the default settings. */
  public static RedisNodeBuilder builder() {
    return new RedisNodeBuilder();
  }

  /**
   * Connects with the default settings, see {@link RedisNodeBuilder#connect(String)}.
   *
   * @param url {@code redis://host:port/db}, {@code rediss://} with TLS, or {@code
   *     redis-socket:///path}; user and password before the host, if any
   */
  public static RedisNode connect(String url) {
    return builder().connect(url);
  }

  /** Connects with the default settings, see {@link RedisNodeBuilder#connect(RedisURI)}. */
  public static RedisNode connect(RedisURI uri) {
    return builder().connect(uri);
  }

  /**
   * Connects with the default settings through a client of the caller's, see {@link
   * RedisNodeBuilder#over(RedisClient, RedisURI)}.
   */
  public static RedisNode over(RedisClient client, RedisURI uri) {
    return builder().over(client, uri);
  }

  /**
   * Connects to several servers at the same time with the default settings, see {@link
   * RedisNodeBuilder#connectAll}.
   */
  public static List<RedisNode> connectAll(String... urls) {
    return builder().connectAll(List.of(urls));
  }

  /**
   * Ends the connection and, with the last node of the process, the threads; waits up to 3 s for
   * them, but not in a thread of the driver. A client that the caller handed in stays open.
   */
  @Override
  public void close() {
    if (Thread.currentThread() instanceof FastThreadLocalThread) {
      end(); // it would wait for itself
    } else {
      CallersThread.keptClean(
          () -> {
            super.close();
            return true;
          });
    }
  }
}
