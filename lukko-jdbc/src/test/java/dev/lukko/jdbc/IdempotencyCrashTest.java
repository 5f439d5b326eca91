package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.fencing.RequestFingerprint;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A crash between the work and the commit leaves neither the work nor the key. */
class IdempotencyCrashTest {
  private static final RequestFingerprint REQUEST = RequestFingerprint.of("request");

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2") // Its database dies with the process.
  void processKilledBetweenWorkAndCommitLeavesNeither(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                CrashingCall.class.getName(),
                EmptyDatabases.urlOf(database))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(output.readLine()).isEqualTo(CrashingCall.DONE);
    } finally {
      process.destroyForcibly();
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }
    doesTheWorkOnce(database);
  }

  @Test
  void backendTerminatedBetweenWorkAndCommitLeavesNeither() throws Exception {
    DataSource database = withTables(Dialect.POSTGRES);
    assertThatThrownBy(
            () ->
                IdempotencyKeys.over(database)
                    .runOnce(
                        "key",
                        REQUEST,
                        connection -> {
                          long pid = DialectTraits.number(connection, "SELECT pg_backend_pid()");
                          pay(connection);
                          try (Connection admin = database.getConnection()) {
                            DialectTraits.execute(
                                admin, "SELECT pg_terminate_backend(" + pid + ")");
                          }
                          return "lost";
                        }))
        .isInstanceOf(SQLException.class);
    doesTheWorkOnce(database);
  }

  @ParameterizedTest
  @EnumSource
  void connectionClosedByTheWorkLeavesNeither(Dialect dialect) throws Exception {
    DataSource database = withTables(dialect);
    assertThatThrownBy(
            () ->
                IdempotencyKeys.over(database)
                    .runOnce(
                        "key",
                        REQUEST,
                        connection -> {
                          pay(connection);
                          connection.close();
                          return "lost";
                        }))
        .isInstanceOf(SQLException.class);
    doesTheWorkOnce(database);
  }

  private static void doesTheWorkOnce(DataSource database) throws Exception {
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    assertThat(payments(database)).isZero();
    assertThat(keys.runOnce("key", REQUEST, IdempotencyCrashTest::pay)).isEqualTo("paid");
    assertThat(keys.runOnce("key", REQUEST, IdempotencyCrashTest::pay)).isEqualTo("paid");
    assertThat(payments(database)).isEqualTo(1);
  }

  private static String pay(Connection connection) throws SQLException {
    DialectTraits.execute(connection, "INSERT INTO payment VALUES (1)");
    return "paid";
  }

  private static long payments(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection()) {
      return DialectTraits.number(connection, "SELECT COUNT(*) FROM payment");
    }
  }

  private static DataSource withTables(Dialect dialect) throws SQLException {
    DataSource database = EmptyDatabases.create(dialect);
    IdempotencyKeys.over(database).createTable();
    try (Connection connection = database.getConnection()) {
      DialectTraits.execute(connection, "CREATE TABLE payment (amount INT)");
    }
    return database;
  }
}
