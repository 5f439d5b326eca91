package dev.lukko.jedis;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.args.Rawable;
import redis.clients.jedis.providers.PooledConnectionProvider;

/** Connections that stop, when told to, before they write a certain request. */
final class GatedConnections extends BasePooledObjectFactory<Connection> {
  private final int port;
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch open = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile String text;
  private volatile boolean reconnected;

  GatedConnections(int port) {
    this.port = port;
  }

  UnifiedJedis client() {
    return Clients.over(new PooledConnectionProvider(this));
  }

  /** The next request with that argument waits before the driver looks at its socket. */
  void holdNextWriteOf(String argument) {
    text = argument;
  }

  void awaitHeld() throws InterruptedException {
    await(held);
  }

  void goOn() {
    open.countDown();
  }

  void awaitEndOfHeldWrite() throws InterruptedException {
    await(ended);
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    if (!latch.await(30, TimeUnit.SECONDS)) {
      throw new AssertionError("not reached within 30 s");
    }
  }

  /** Whether the driver had made a new socket for the request that was held. */
  boolean isReconnected() {
    return reconnected;
  }

  @Override
  public Connection create() {
    Connection made =
        new Connection("127.0.0.1", port) {
          @Override
          public void sendCommand(CommandArguments arguments) {
            boolean late = isHeld(arguments);
            if (late) {
              text = null;
              held.countDown();
              pass();
            }
            super.sendCommand(arguments);
            if (late) {
              reconnected = isConnected();
              ended.countDown();
            }
          }
        };
    made.connect();
    return made;
  }

  private boolean isHeld(CommandArguments arguments) {
    String sought = text;
    for (Rawable each : arguments) {
      if (sought != null && sought.equals(new String(each.getRaw()))) {
        return true;
      }
    }
    return false;
  }

  private void pass() {
    try {
      await(open);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public PooledObject<Connection> wrap(Connection made) {
    return new DefaultPooledObject<>(made);
  }

  @Override
  public void destroyObject(PooledObject<Connection> ended) {
    ended.getObject().close();
  }
}
