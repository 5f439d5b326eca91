package dev.lukko.bench;

import dev.lukko.postgres.PostgresAdvisoryLocks;
import dev.lukko.postgres.PostgresSchema;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A session lock, with its token: beside the two bare function calls. Both on the same connection,
 * in turn, so that it makes no difference where the system runs the server's process.
 */
final class AdvisoryBench {
  private static final Duration TTL = Duration.ofSeconds(30);

  private AdvisoryBench() {}

  static void run(PrintStream out, int slices, int operations) throws Exception {
    try (EmbeddedPostgres server = Postgres.start()) {
      PostgresSchema.standard().create(server.getPostgresDatabase());
      Recording source = new Recording(server);
      try (PostgresAdvisoryLocks locks = PostgresAdvisoryLocks.over(source);
          PreparedStatement lock =
              Postgres.prepare(source.open(), "SELECT pg_try_advisory_lock(?)");
          PreparedStatement numbered =
              Postgres.prepare(
                  source.open(),
                  "SELECT CASE WHEN pg_try_advisory_lock(?) THEN nextval('lukko.fencing_token')"
                      + " END > 0");
          PreparedStatement unlock =
              Postgres.prepare(source.open(), "SELECT pg_advisory_unlock(?)")) {
        new SideBySide("Session lock on PostgreSQL, acquire and release", slices, operations)
            .subject(
                "the two bare function calls",
                () -> {
                  Postgres.call(lock, 4711);
                  Postgres.call(unlock, 4711);
                })
            .subject(
                "the same, with a number from a sequence",
                () -> {
                  Postgres.call(numbered, 4711);
                  Postgres.call(unlock, 4711);
                })
            .subject("Lukko, with fencing token", () -> locks.acquire("bench", TTL).release())
            .run(out);
      }
    }
  }

  /** Remembers the connections that it has opened, to find the one that the client works on. */
  private static final class Recording extends PGSimpleDataSource {
    private static final long serialVersionUID = 1L;

    private final transient List<Connection> opened = new CopyOnWriteArrayList<>();

    Recording(EmbeddedPostgres server) {
      setUrl(Postgres.url(server));
      setUser("postgres");
    }

    @Override
    public Connection getConnection() throws SQLException {
      Connection connection = super.getConnection();
      opened.add(connection);
      return connection;
    }

    Connection open() throws SQLException {
      for (Connection connection : opened) {
        if (!connection.isClosed()) {
          return connection;
        }
      }
      throw new IllegalStateException("the client has no connection");
    }
  }
}
