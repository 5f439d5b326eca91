package dev.lukko.bench;

import dev.lukko.LockClient;
import dev.lukko.jdbc.JdbcNode;
import dev.lukko.jdbc.JdbcSchema;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.SoleFleet;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** A row of a table as a lock, on PostgreSQL: beside the two statements sent by hand. */
final class SqlNodeBench {
  private static final long TTL = 30_000;
  private static final long PATIENCE = Duration.ofSeconds(1).toNanos();
  private static final int THREADS = 64;
  private static final String NOW =
      "CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)";
  private static final String GRANT =
      "UPDATE lukko_lock SET owner = ?, expires_at = "
          + NOW
          + " + ?, counter = greatest(?, counter + 1) WHERE name = ? AND (owner IS NULL OR"
          + " expires_at <= "
          + NOW
          + ") RETURNING counter";
  private static final String RELEASE =
      "UPDATE lukko_lock SET owner = NULL WHERE name = ? AND owner = ?";

  private SqlNodeBench() {}

  static void run(PrintStream out, int slices, int operations) throws Exception {
    try (EmbeddedPostgres server = Postgres.start();
        Connection connection = server.getPostgresDatabase().getConnection()) {
      DataSource source = server.getPostgresDatabase();
      JdbcSchema.create(source);
      // One is in use at a time: all subjects run in turn, on this thread.
      DataSource one = new OneConnection(connection).source();
      try (JdbcNode node = JdbcNode.builder(one).maxConnections(1).build();
          LockClient locks =
              Redlock.over(JdbcNode.builder(one).name("of Redlock").maxConnections(1).build());
          ByHand hand = new ByHand(connection)) {
        String seen = seenOf(node);
        for (String name : List.of("hand", "blocking", "comparing", "asynchronous")) {
          cycle(node, name, 1, seen);
        }
        AtomicLong number = new AtomicLong(1);
        new SideBySide("A row as a lock on PostgreSQL, acquire and release", slices, operations)
            .subject("the two statements by hand", () -> hand.cycle("hand", "owner"))
            .subject(
                "JdbcNode, same connection, by the blocking verbs",
                () -> cycleInCaller(node, "comparing", number.incrementAndGet(), seen))
            .subject(
                "the same, without a comparison of the fleet's record",
                () -> cycleInCaller(node, "blocking", number.incrementAndGet(), ""))
            .subject(
                "JdbcNode, same connection, by the asynchronous verbs",
                () -> cycle(node, "asynchronous", number.incrementAndGet(), seen))
            .subject(
                "Redlock over one JdbcNode, same connection, with token",
                () -> locks.acquire("lukko", Duration.ofMillis(TTL)).release())
            .run(out);
      }
      scaling(out, source, Math.max(1, slices / 10));
    }
  }

  private static void scaling(PrintStream out, DataSource source, int slices) throws Exception {
    out.printf(Locale.ROOT, "%n%d threads, each on a name of its own%n", THREADS);
    for (int connections : new int[] {1, 2, 4, 8}) {
      List<Double> byHand = new ArrayList<>();
      List<Double> blocking = new ArrayList<>();
      List<Double> uncompared = new ArrayList<>();
      List<Double> asynchronous = new ArrayList<>();
      try (JdbcNode node =
              JdbcNode.builder(source).maxConnections(connections).queueCapacity(1_000).build();
          HandPool pool = new HandPool(source, connections)) {
        String seen = seenOf(node);
        for (int i = 0; i < THREADS; i++) {
          cycle(node, "n" + i, 1, seen);
          cycle(node, "h" + i, 1, seen);
        }
        for (int slice = -1; slice < slices; slice++) { // The first warms up.
          double hand = rate(thread -> pool.cycle("h" + thread));
          double inCaller = rate(thread -> cycleInCaller(node, "n" + thread, 1, seen));
          double withoutRecord = rate(thread -> cycleInCaller(node, "n" + thread, 1, ""));
          double inWorkers = rate(thread -> cycle(node, "n" + thread, 1, seen));
          if (slice >= 0) {
            byHand.add(hand);
            blocking.add(inCaller);
            uncompared.add(withoutRecord);
            asynchronous.add(inWorkers);
          }
        }
      }
      out.printf(
          Locale.ROOT,
          "  %2d connections: by hand %6.0f, JdbcNode blocking %6.0f (no record compared: %6.0f),"
              + " asynchronous %6.0f cycles/s, ratios %.2f, %.2f%n",
          connections,
          median(byHand),
          median(blocking),
          median(uncompared),
          median(asynchronous),
          median(blocking) / median(byHand),
          median(asynchronous) / median(byHand));
    }
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  private interface Cycle {
    void run(int thread) throws Exception;
  }

  /** Cycles per second of all threads together. */
  private static double rate(Cycle cycle) throws Exception {
    long start = System.nanoTime();
    long end = start + Duration.ofSeconds(1).toNanos();
    AtomicLong cycles = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    List<Exception> failures = java.util.Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < THREADS; i++) {
      int number = i;
      Thread thread =
          new Thread(
              () -> {
                try {
                  while (System.nanoTime() < end) {
                    cycle.run(number);
                    cycles.incrementAndGet();
                  }
                } catch (Exception failure) {
                  failures.add(failure);
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw failures.get(0);
    }
    return cycles.get() / ((System.nanoTime() - start) / 1e9);
  }

  private static LockEntry entry(String name) {
    return LockEntry.exclusive(List.of(name), "owner-of-" + name);
  }

  /** Makes the node a member of a fleet, whose record is then compared. */
  private static String seenOf(JdbcNode node) {
    SoleFleet.admit(node);
    return SoleFleet.seen(node, entry("any")).seen();
  }

  private static void cycle(JdbcNode node, String name, long proposal, String seen) {
    LockEntry entry = entry(name).seen(seen);
    GrantReply granted =
        node.grant(new GrantRequest(entry, TTL, proposal)).toCompletableFuture().join();
    check(granted, node.release(entry).toCompletableFuture().join());
  }

  /** What the blocking calls of a client do. */
  private static void cycleInCaller(JdbcNode node, String name, long proposal, String seen) {
    LockEntry entry = entry(name).seen(seen);
    GrantRequest request = new GrantRequest(entry, TTL, proposal);
    GrantReply granted = node.grantInCaller(request, PATIENCE).toCompletableFuture().join();
    check(granted, node.releaseInCaller(entry, PATIENCE).toCompletableFuture().join());
  }

  private static void check(GrantReply granted, ReleaseReply released) {
    if (!(granted instanceof GrantReply.Granted) || !(released instanceof ReleaseReply.Released)) {
      throw new IllegalStateException(granted + ", " + released);
    }
  }

  /** The two statements on one connection. */
  private static final class ByHand implements AutoCloseable {
    private final PreparedStatement grant;
    private final PreparedStatement release;

    ByHand(Connection connection) throws SQLException {
      grant = Postgres.prepare(connection, GRANT);
      release = Postgres.prepare(connection, RELEASE);
    }

    void cycle(String name, String owner) throws SQLException {
      grant.setString(1, owner);
      grant.setLong(2, TTL * 1_000);
      grant.setLong(3, 1);
      grant.setString(4, name);
      try (ResultSet result = grant.executeQuery()) {
        if (!result.next()) {
          throw new IllegalStateException("refused");
        }
      }
      release.setString(1, name);
      release.setString(2, owner);
      if (release.executeUpdate() != 1) {
        throw new IllegalStateException("not held");
      }
    }

    @Override
    public void close() throws SQLException {
      grant.close();
      release.close();
    }
  }

  /** The same for many threads: a queue of connections. */
  private static final class HandPool implements AutoCloseable {
    private final BlockingQueue<ByHand> free = new LinkedBlockingQueue<>();
    private final List<Connection> connections = new ArrayList<>();

    HandPool(DataSource source, int size) throws SQLException {
      for (int i = 0; i < size; i++) {
        Connection connection = source.getConnection();
        connections.add(connection);
        free.add(new ByHand(connection));
      }
    }

    void cycle(String name) throws Exception {
      ByHand hand = free.take();
      try {
        hand.cycle(name, name);
      } finally {
        free.add(hand);
      }
    }

    @Override
    public void close() throws SQLException {
      for (Connection connection : connections) {
        connection.close();
      }
    }
  }

  /** A source that gives the same connection again and again, and leaves it open. */
  private record OneConnection(Connection connection) {
    DataSource source() {
      return (DataSource)
          java.lang.reflect.Proxy.newProxyInstance(
              DataSource.class.getClassLoader(),
              new Class<?>[] {DataSource.class},
              (proxy, method, arguments) ->
                  method.getName().equals("getConnection") ? connection : null);
    }
  }
}
