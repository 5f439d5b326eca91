package dev.lukko.bench;

import dev.lukko.postgres.PostgresAdvisoryLocks;
import dev.lukko.postgres.PostgresSchema;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import org.postgresql.PGStatement;

/**
 * Acquire and release of an advisory lease beside the two bare function calls, on one connection
 * each, in short turns, so that whatever else the machine does meets both alike. Arguments:
 * pairs (default 20000) and the server's {@code synchronous_commit} (default on).
 */
public final class PostgresLockBench {
  private static final Duration TTL = Duration.ofSeconds(30);

  private static final int TURN = 100;

  private PostgresLockBench() {}

  /** Runs it and prints the quartiles. */
  public static void main(String[] args) throws Exception {
    int pairs = (args.length > 0 ? Integer.parseInt(args[0]) : 20_000) / TURN * TURN;
    String commit = args.length > 1 ? args[1] : "on";
    try (EmbeddedPostgres server =
            EmbeddedPostgres.builder().setServerConfig("synchronous_commit", commit).start();
        Connection connection = server.getPostgresDatabase().getConnection()) {
      PostgresSchema.standard().create(connection);
      try (PostgresAdvisoryLocks locks =
              PostgresAdvisoryLocks.connect(
                  server.getJdbcUrl("postgres", "postgres"), "postgres", "");
          PreparedStatement lock = prepared(connection, "SELECT pg_try_advisory_lock(?)");
          PreparedStatement unlock = prepared(connection, "SELECT pg_advisory_unlock(?)")) {
        long[] bare = new long[pairs];
        long[] leased = new long[pairs];
        for (int turn = -pairs / 3 / TURN; turn < pairs / TURN; turn++) { // A third warms up.
          for (int i = 0; i < TURN; i++) {
            long start = System.nanoTime();
            call(lock, i);
            call(unlock, i);
            record(bare, turn * TURN + i, start);
          }
          for (int i = 0; i < TURN; i++) {
            long start = System.nanoTime();
            locks.acquire("bench-" + i, TTL).release();
            record(leased, turn * TURN + i, start);
          }
        }
        Arrays.sort(bare);
        Arrays.sort(leased);
        for (int percent : new int[] {10, 25, 50, 75}) {
          double of = bare[pairs * percent / 100] / 1e3;
          double to = leased[pairs * percent / 100] / 1e3;
          System.out.printf(
              "p%d: two bare calls %.1f us, acquire and release %.1f us, ratio %.3f%n",
              percent, of, to, to / of);
        }
        double of = Arrays.stream(bare).average().orElseThrow() / 1e3;
        double to = Arrays.stream(leased).average().orElseThrow() / 1e3;
        System.out.printf(
            "mean: two bare calls %.1f us, acquire and release %.1f us, ratio %.3f%n",
            of, to, to / of);
      }
    }
  }

  private static PreparedStatement prepared(Connection connection, String sql)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    statement.unwrap(PGStatement.class).setPrepareThreshold(1);
    return statement;
  }

  private static void record(long[] nanos, int index, long start) {
    if (index >= 0) {
      nanos[index] = System.nanoTime() - start;
    }
  }

  private static void call(PreparedStatement statement, long key) throws SQLException {
    statement.setLong(1, key);
    try (ResultSet result = statement.executeQuery()) {
      if (!result.next() || !result.getBoolean(1)) {
        throw new IllegalStateException("refused");
      }
    }
  }
}
