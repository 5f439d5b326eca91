package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.fencing.KeyInProgressException;
import dev.lukko.fencing.RequestFingerprint;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

/** A caller's transaction is the caller's: nothing here commits it, or is lost with it. */
class CallersTransactionTest {
  private static final RequestFingerprint REQUEST = RequestFingerprint.of("request");
  private static final JdbcFence FENCE = JdbcFence.create();

  private static DataSource withTables(Dialect dialect) throws SQLException {
    DataSource database = EmptyDatabases.create(dialect);
    IdempotencyKeys.over(database).createTable();
    try (Connection connection = database.getConnection()) {
      FENCE.createTable(connection);
      DialectTraits.execute(connection, "CREATE TABLE payment (amount INT)");
    }
    return database;
  }

  private static long payments(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection()) {
      return DialectTraits.number(connection, "SELECT COUNT(*) FROM payment");
    }
  }

  private static List<ThrowingCallable> everythingOver(DataSource source) {
    IdempotencyKeys keys = IdempotencyKeys.over(source);
    return List.of(
        () -> keys.runOnce("key", REQUEST, connection -> "result"),
        keys::purge,
        keys::createTable,
        () -> JdbcSchema.create(source),
        () -> FENCE.purge(source, Duration.ofHours(1)));
  }

  private interface Step {
    void on(Connection connection) throws SQLException;
  }

  private static void inSpringsTransaction(DataSource database, Step before, boolean refused) {
    DataSource bound = new TransactionAwareDataSourceProxy(database);
    for (ThrowingCallable call : everythingOver(bound)) {
      new TransactionTemplate(new DataSourceTransactionManager(database))
          .executeWithoutResult(
              status -> {
                Connection connection = DataSourceUtils.getConnection(database);
                try {
                  before.on(connection);
                  if (refused) {
                    assertThatIllegalStateException()
                        .isThrownBy(call)
                        .withMessageContainingAll("transaction in it", "commit", "data source");
                  } else {
                    assertThatCode(call).doesNotThrowAnyException();
                  }
                  assertThat(connection.getAutoCommit()).isFalse();
                } catch (SQLException failure) {
                  throw new AssertionError(failure);
                }
                status.setRollbackOnly();
              });
    }
  }

  @ParameterizedTest
  @EnumSource
  void connectionOfARunningTransaction_isRefused_andItsRowsCanBeRolledBack(Dialect dialect)
      throws SQLException {
    DataSource database = withTables(dialect);
    inSpringsTransaction(
        database,
        connection -> DialectTraits.execute(connection, "INSERT INTO payment VALUES (1)"),
        true);
    assertThat(payments(database)).isZero();
    try (Connection connection = database.getConnection()) {
      assertThat(DialectTraits.number(connection, "SELECT COUNT(*) FROM lukko_idempotency"))
          .isZero();
    }
  }

  /** H2 cannot tell that a transaction has read; committing it takes nothing from it. */
  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "H2")
  void connectionOfATransactionThatHasOnlyRead_isRefused(Dialect dialect) throws SQLException {
    inSpringsTransaction(
        withTables(dialect),
        connection -> DialectTraits.number(connection, "SELECT COUNT(*) FROM payment"),
        true);
  }

  @ParameterizedTest
  @EnumSource
  void connectionThatAPoolHasTestedOutsideOfAutocommitMode_isTaken(Dialect dialect)
      throws SQLException {
    inSpringsTransaction(
        withTables(dialect), connection -> DialectTraits.number(connection, "SELECT 1"), false);
  }

  @ParameterizedTest
  @EnumSource(names = "POSTGRES")
  void transactionThatHasFailedOrHoldsAnAdvisoryLock_isRefused(Dialect dialect)
      throws SQLException {
    DataSource database = withTables(dialect);
    inSpringsTransaction(
        database,
        connection -> DialectTraits.number(connection, "SELECT 1 FROM pg_advisory_xact_lock(7)"),
        true);
    inSpringsTransaction(
        database,
        connection ->
            assertThatThrownBy(() -> DialectTraits.execute(connection, "SELECT 1/0"))
                .isInstanceOf(SQLException.class),
        true);
  }

  @ParameterizedTest
  @EnumSource
  void poolWithAutocommitOff_createsTables_runsOnce_purges_andGetsItsConnectionsBackSo(
      Dialect dialect) throws Exception {
    DataSource database = EmptyDatabases.create(dialect);
    try (Connection connection = database.getConnection()) {
      DialectTraits.execute(connection, "CREATE TABLE payment (amount INT)");
    }
    List<Connection> handedOut = new ArrayList<>();
    DataSource pool =
        new org.springframework.jdbc.datasource.DelegatingDataSource(database) {
          @Override
          public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            connection.setAutoCommit(false);
            handedOut.add(connection);
            return OwnConnectionsTest.pooledOnce(connection);
          }
        };
    IdempotencyKeys keys = IdempotencyKeys.over(pool);
    keys.createTable();
    JdbcSchema.create(pool);
    for (int i = 0; i < 2; i++) {
      assertThat(
              keys.runOnce(
                  "key",
                  REQUEST,
                  connection -> {
                    DialectTraits.execute(connection, "INSERT INTO payment VALUES (1)");
                    return "paid";
                  }))
          .isEqualTo("paid");
      for (Connection connection : handedOut) {
        assertThat(connection.getAutoCommit()).isFalse();
        connection.rollback();
        connection.close();
      }
      handedOut.clear();
    }
    assertThat(payments(database)).isEqualTo(1);
    assertThat(IdempotencyKeys.over(database).purge()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void creationOfTheFenceTable_neverCommitsTheTransactionOfItsConnection(Dialect dialect)
      throws SQLException {
    DataSource database = withTables(dialect);
    JdbcFence other = FENCE.inTable("other_fence");
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      DialectTraits.execute(connection, "INSERT INTO payment VALUES (1)");
      if (dialect == Dialect.MYSQL || dialect == Dialect.H2) {
        assertThatIllegalStateException()
            .isThrownBy(() -> other.createTable(connection))
            .withMessageContaining("before the transaction");
      } else {
        other.createTable(connection);
      }
      connection.rollback();
      connection.setAutoCommit(true);
      assertThat(payments(database)).isZero();
      other.createTable(connection);
      connection.setAutoCommit(false);
      other.check(connection, "a", 1);
      connection.commit();
    }
  }

  /** PostgreSQL reads what is committed at this level too, and SQLite has one writer. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "H2"})
  void resultOfATransactionThatIsRolledBackLater_isNotGivenAtReadUncommitted(Dialect dialect)
      throws Exception {
    DataSource database = withTables(dialect);
    DataSource dirty =
        new org.springframework.jdbc.datasource.DelegatingDataSource(database) {
          @Override
          public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_UNCOMMITTED);
            return connection;
          }
        };
    IdempotencyKeys keys = IdempotencyKeys.builder(dirty).maxWait(Duration.ofSeconds(1)).build();
    try (Connection callers = database.getConnection()) {
      callers.setAutoCommit(false);
      keys.runOnce(callers, "key", REQUEST, connection -> "never committed");
      assertThatThrownBy(() -> keys.runOnce("key", REQUEST, connection -> "too early"))
          .isInstanceOf(KeyInProgressException.class);
      callers.rollback();
    }
    assertThat(keys.runOnce("key", REQUEST, connection -> "right")).isEqualTo("right");
    assertThat(keys.runOnce("key", REQUEST, connection -> "again")).isEqualTo("right");
  }
}
