package dev.lukko.bench;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServer;
import io.lettuce.core.RedisClient;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;

/** A release in one client until a waiter of another client has the lock; by hand, and by Lukko. */
final class PingPongBench {
  private PingPongBench() {}

  /** A lock with two clients: one holds, the other waits. */
  private interface Pair extends AutoCloseable {
    void acquire(int client) throws Exception;

    void release(int client) throws Exception;

    @Override
    void close();
  }

  static void run(PrintStream out, int slices, int operations) throws Exception {
    RedisClient driver = RedisClient.create();
    try (RedisServer server = RedisServer.builder().start();
        HandOver hand = new HandOver(byHand(driver, server.url()));
        HandOver lukko = new HandOver(byLukko(server.url()))) {
      new SideBySide("Release until a waiter of another client holds", slices, operations)
          .subject("by hand: SET NX PX, pub/sub", hand::once)
          .subject("Lukko, with fencing token", lukko::once)
          .run(out);
    } finally {
      driver.shutdown();
    }
  }

  private static Pair byHand(RedisClient driver, String url) {
    PlainWaiter[] clients = {
      new PlainWaiter(driver, url, "hand"), new PlainWaiter(driver, url, "hand")
    };
    String[] values = new String[2];
    return new Pair() {
      @Override
      public void acquire(int client) throws InterruptedException {
        values[client] = clients[client].acquire(10_000);
      }

      @Override
      public void release(int client) {
        clients[client].release(values[client]);
      }

      @Override
      public void close() {
        clients[0].close();
        clients[1].close();
      }
    };
  }

  private static Pair byLukko(String url) {
    LockClient[] clients = {
      Redlock.over(RedisNode.connect(url)), Redlock.over(RedisNode.connect(url))
    };
    Lease[] leases = new Lease[2];
    LockRequest request =
        LockRequest.builder("lukko")
            .ttl(Duration.ofSeconds(10))
            .maxWait(LockRequest.FOREVER)
            .build();
    return new Pair() {
      @Override
      public void acquire(int client) {
        leases[client] = clients[client].acquire(request);
      }

      @Override
      public void release(int client) {
        leases[client].release();
      }

      @Override
      public void close() {
        clients[0].close();
        clients[1].close();
      }
    };
  }

  /**
   * Passes the lock from one client to the other; what is timed contains the waiter's set-up too.
   */
  private static final class HandOver implements AutoCloseable {
    private final Pair pair;
    private final ExecutorService waiter = Executors.newSingleThreadExecutor();
    private final SynchronousQueue<Integer> begin = new SynchronousQueue<>();
    private int holder;

    HandOver(Pair pair) throws Exception {
      this.pair = pair;
      pair.acquire(0);
    }

    void once() throws Exception {
      int next = 1 - holder;
      Future<?> waiting =
          waiter.submit(
              () -> {
                begin.put(next);
                pair.acquire(next);
                return null;
              });
      begin.take();
      pair.release(holder);
      waiting.get();
      holder = next;
    }

    @Override
    public void close() {
      waiter.shutdownNow();
      pair.close();
    }
  }
}
