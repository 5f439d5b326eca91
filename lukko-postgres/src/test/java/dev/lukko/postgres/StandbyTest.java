package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.LockException;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real hot standby: the data of a primary that was shut down, started again with {@code
 * standby.signal}.
 */
class StandbyTest {

  @Test
  void hotStandbyIsRefusedWithTheReason(@TempDir(cleanup = CleanupMode.ALWAYS) Path directory)
      throws Exception {
    Path data = directory.resolve("data");
    try (EmbeddedPostgres primary = start(data)) {
      PostgresSchema.standard().create(primary.getPostgresDatabase());
    }
    Files.createFile(data.resolve("standby.signal"));
    try (EmbeddedPostgres standby = start(data)) {
      DataSource source = standby.getPostgresDatabase();
      assertThat(isInRecovery(source)).isTrue();
      assertThatThrownBy(() -> PostgresAdvisoryLocks.over(source))
          .isInstanceOf(UnsuitableDatabaseException.class)
          .hasMessageContaining("standby")
          .hasMessageContaining("primary");
      lockInATransactionFails(standby, source);
    }
  }

  /** A client of the primary that is handed a connection to the standby. */
  private static void lockInATransactionFails(EmbeddedPostgres standby, DataSource source)
      throws Exception {
    TransactionLocks locks = new TransactionLocks("lukko", dev.lukko.time.Ticker.system());
    try (Connection connection = source.getConnection()) {
      connection.setAutoCommit(false);
      assertThatThrownBy(
              () ->
                  locks.lock(
                      connection,
                      java.util.List.of(LockKey.of("lukko", "a")),
                      Duration.ofMillis(50)))
          .as("port %s", standby.getPort())
          .isInstanceOf(LockException.class)
          .cause()
          .hasMessageContaining("read-only");
    }
  }

  private static EmbeddedPostgres start(Path data) throws IOException {
    return EmbeddedPostgres.builder().setDataDirectory(data).setCleanDataDirectory(false).start();
  }

  private static boolean isInRecovery(DataSource source) throws Exception {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery("SELECT pg_is_in_recovery()")) {
      result.next();
      return result.getBoolean(1);
    }
  }
}
