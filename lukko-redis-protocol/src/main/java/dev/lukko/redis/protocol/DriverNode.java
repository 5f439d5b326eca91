package dev.lukko.redis.protocol;

import dev.lukko.spi.ForwardingNode;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The public face of a {@link ScriptedNode}, which each driver's own node extends.
 *
 * <ul>
 *   <li>The identity in its status is the server's run id, which every start makes anew. An address
 *       that leads to a server other than before, one that was up all the time, makes the node
 *       unfit until the former server is back or the node is made anew.
 *   <li>Hints come by a connection of their own, one for all resources, made with the first watch
 *       and again whenever it breaks.
 *   <li>To leave a line is sent once and waits for nothing: a place that is not given up ends by
 *       its own lease.
 * </ul>
 *
 * <p>Closing it waits up to 3 s, and is not done in a thread of the driver.
 *
 * <p>Thread-safe. Stages complete, and hints are called, in a thread of the driver.
 */
public abstract class DriverNode extends ForwardingNode {
  private final ScriptedNode node;

  /** A node that does what that one does. */
  protected DriverNode(ScriptedNode node) {
    super(node);
    this.node = node;
  }

  /** Begins to end the node and waits for nothing; null if it has begun already. */
  protected final @Nullable CompletableFuture<Void> end() {
    return node.end();
  }

  /** The kind of node, its name, and whether it is connected. */
  @Override
  public final String toString() {
    return getClass().getSimpleName() + "[" + node + "]";
  }
}
