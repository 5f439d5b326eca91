package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.fencing.RequestFingerprint;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Idempotency keys are right at every isolation level of every database. */
class IdempotencyIsolationTest {
  private static final int CALLERS = 6;
  private static final RequestFingerprint REQUEST = RequestFingerprint.of("request");

  static Stream<Arguments> everyLevelOfEveryDatabase() {
    List<Arguments> all = new ArrayList<>();
    for (Dialect dialect : Dialect.values()) {
      int[] levels =
          dialect == Dialect.SQLITE
              ? new int[] {Connection.TRANSACTION_SERIALIZABLE}
              : new int[] {
                Connection.TRANSACTION_READ_UNCOMMITTED,
                Connection.TRANSACTION_READ_COMMITTED,
                Connection.TRANSACTION_REPEATABLE_READ,
                Connection.TRANSACTION_SERIALIZABLE
              };
      for (int level : levels) {
        all.add(Arguments.of(dialect, level));
      }
    }
    return all.stream();
  }

  @ParameterizedTest(name = "{0}, isolation {1}")
  @MethodSource("everyLevelOfEveryDatabase")
  void ofManyCallsThatComeAtOnce_oneDoesTheWork_andAllGetItsResult(Dialect dialect, int level)
      throws Exception {
    DataSource database = EmptyDatabases.create(dialect);
    IdempotencyKeys.over(database).createTable();
    try (Connection connection = database.getConnection()) {
      DialectTraits.execute(connection, "CREATE TABLE payment (amount INT)");
    }
    DataSource atLevel =
        new DelegatingDataSource(database) {
          @Override
          public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            connection.setTransactionIsolation(level);
            return connection;
          }
        };
    IdempotencyKeys keys = IdempotencyKeys.builder(atLevel).maxWait(Duration.ofMinutes(1)).build();
    ExecutorService pool = Executors.newFixedThreadPool(CALLERS);
    try {
      for (int round = 0; round < 5; round++) {
        String key = "key-" + round;
        List<Future<String>> results = new ArrayList<>();
        for (int caller = 0; caller < CALLERS; caller++) {
          String result = "result of " + caller;
          results.add(
              pool.submit(
                  () ->
                      keys.runOnce(
                          key,
                          REQUEST,
                          connection -> {
                            DialectTraits.execute(connection, "INSERT INTO payment VALUES (1)");
                            return result;
                          })));
        }
        String first = results.get(0).get(60, TimeUnit.SECONDS);
        for (Future<String> result : results) {
          assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo(first);
        }
      }
    } finally {
      pool.shutdownNow();
    }
    try (Connection connection = database.getConnection()) {
      assertThat(DialectTraits.number(connection, "SELECT COUNT(*) FROM payment")).isEqualTo(5);
    }
  }
}
