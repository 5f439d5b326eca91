package dev.lukko.postgres;

import dev.lukko.schedule.OncePerTick;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A replica in a process of its own that asks for tick after tick, and dies in the middle of one
 * that is marked for that. Arguments: url, first tick, number of ticks, the tick to die in.
 */
final class TickReplicaMain {
  static final int DIED = 66;

  private TickReplicaMain() {}

  public static void main(String[] args) throws Exception {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(args[0]);
    source.setUser("postgres");
    Instant first = Instant.parse(args[1]);
    int ticks = Integer.parseInt(args[2]);
    int deadly = Integer.parseInt(args[3]);
    try (PostgresAdvisoryLocks locks = PostgresAdvisoryLocks.over(source);
        OncePerTick once =
            OncePerTick.builder(locks, PostgresLastRunStore.over(source))
                .maxWait(Duration.ofSeconds(30))
                .keepHistoryForever() // The ticks lie long ago.
                .build()) {
      for (int i = 0; i < ticks; i++) {
        int tick = i;
        once.run(
            "invoices",
            first.plusSeconds(tick),
            lease -> {
              send(source, tick, lease.fencingToken());
              if (tick == deadly) {
                Runtime.getRuntime().halt(DIED);
              }
            });
      }
    }
  }

  private static void send(PGSimpleDataSource source, int tick, long token) throws SQLException {
    try (Connection connection = source.getConnection();
        PreparedStatement insert =
            connection.prepareStatement("INSERT INTO invoice VALUES (?, ?, pg_backend_pid())")) {
      insert.setInt(1, tick);
      insert.setLong(2, token);
      insert.executeUpdate();
    }
  }
}
