package dev.lukko.jedis;

import dev.lukko.redis.protocol.ScriptedNode;
import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
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
public final class JedisNode implements LockNode {
  private final ScriptedNode node;

  JedisNode(ScriptedNode node) {
    this.node = node;
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

  @Override
  public String name() {
    return node.name();
  }

  @Override
  public Set<Capability> capabilities() {
    return node.capabilities();
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    return node.grant(request);
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    return node.confirm(entry, counter);
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    return node.extend(entry, ttlMillis);
  }

  @Override
  public CompletionStage<ExtendReply> repair(LockEntry entry, long ttlMillis, long counter) {
    return node.repair(entry, ttlMillis, counter);
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    return node.release(entry);
  }

  /** Sends it once and waits for nothing: a place that is not given up ends by its own lease. */
  @Override
  public void leave(LockEntry entry, FairTicket ticket) {
    node.leave(entry, ticket);
  }

  /**
   * {@inheritDoc}
   *
   * <p>The identity is the server's run id, which every start makes anew. An address that leads to
   * a server other than before, one that was up all the time, makes the node unfit until the former
   * server is back or the node is made anew.
   */
  @Override
  public CompletionStage<NodeStatus> status() {
    return node.status();
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, long quarantineMillis) {
    return node.admit(seen, quarantineMillis);
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    return node.inspect(resource);
  }

  /** {@inheritDoc} Hints are called in a thread of the node. */
  @Override
  public Watch watch(String resource, Runnable hint) {
    return node.watch(resource, hint);
  }

  /**
   * Ends the connections and the threads; waits up to 3 s for them, but not in a thread of a node.
   * A client of the caller's stays open, unless the builder was told otherwise.
   */
  @Override
  public void close() {
    if (Thread.currentThread() instanceof DriverThread) {
      node.end(); // it would wait for itself
    } else {
      node.close();
    }
  }

  @Override
  public String toString() {
    return "JedisNode[" + node + "]";
  }
}
