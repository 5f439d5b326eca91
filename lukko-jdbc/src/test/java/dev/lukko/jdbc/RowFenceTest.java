package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RowFenceTest {
  private static final RowFence ROWS = RowFence.on("account", "fence", "tenant", "id");
  private static final List<?> KEY = List.of("acme", 7);

  @ParameterizedTest
  @EnumSource
  void updateOfAHolderIsOneStatementAlsoInAutocommitMode(Dialect dialect) throws SQLException {
    try (Redlock locks = Redlock.over(new InMemoryNode());
        Lease lease = locks.acquire("account:7", Duration.ofMinutes(1));
        Connection real = withRow(EmptyDatabases.create(dialect))) {
      CountedConnection counted = new CountedConnection(real);

      assertThat(ROWS.update(counted.connection(), lease, KEY, "balance = balance + ?", 5))
          .isTrue();
      assertThat(ROWS.update(counted.connection(), lease, KEY, "balance = balance + ?", 5))
          .isTrue();
      assertThat(ROWS.touch(counted.connection(), lease, KEY)).isTrue();

      assertThat(counted.statements()).isEqualTo(3);
      assertThat(row(real)).isEqualTo("10/" + lease.fencingToken());
    }
  }

  @ParameterizedTest
  @EnumSource
  void staleTokenIsToldFromAMissingRow(Dialect dialect) throws SQLException {
    try (Connection connection = withRow(EmptyDatabases.create(dialect))) {
      ROWS.update(connection, 34, KEY, "balance = 34");

      assertThatThrownBy(() -> ROWS.update(connection, 33, KEY, "balance = 33"))
          .isInstanceOfSatisfying(
              StaleTokenException.class,
              stale -> {
                assertThat(stale.resource()).isEqualTo("account[acme, 7]");
                assertThat(stale.token()).isEqualTo(33);
                assertThat(stale.highest()).isEqualTo(34);
              });
      assertThat(ROWS.update(connection, 33, List.of("acme", 8), "balance = 33")).isFalse();
      assertThat(ROWS.touch(connection, 33, List.of("other", 7))).isFalse();
      assertThat(row(connection)).isEqualTo("34/34");
    }
  }

  @ParameterizedTest
  @EnumSource
  void readByTheNewHolderRaisesTheFence(Dialect dialect) throws SQLException {
    try (Connection connection = withRow(EmptyDatabases.create(dialect))) {
      ROWS.touch(connection, 34, KEY);
      assertThatThrownBy(() -> ROWS.update(connection, 33, KEY, "balance = 33"))
          .isInstanceOf(StaleTokenException.class);
      assertThatThrownBy(() -> ROWS.touch(connection, 33, KEY))
          .isInstanceOf(StaleTokenException.class);
      assertThat(row(connection)).isEqualTo("0/34");
    }
  }

  @ParameterizedTest
  @EnumSource
  void strictFenceAcceptsEachTokenOnce(Dialect dialect) throws SQLException {
    RowFence strict = ROWS.strict();
    try (Connection connection = withRow(EmptyDatabases.create(dialect))) {
      assertThat(strict.update(connection, 34, KEY, "balance = 1")).isTrue();
      assertThatThrownBy(() -> strict.update(connection, 34, KEY, "balance = 2"))
          .isInstanceOf(StaleTokenException.class);
      assertThat(strict.update(connection, 35, KEY, "balance = 3")).isTrue();
      assertThat(row(connection)).isEqualTo("3/35");
      assertThatThrownBy(() -> strict.touch(connection, 36, KEY))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void rowWithoutATokenAcceptsAny(Dialect dialect) throws SQLException {
    try (Connection connection = withRow(EmptyDatabases.create(dialect));
        Statement statement = connection.createStatement()) {
      statement.execute("UPDATE account SET fence = NULL");
      assertThat(ROWS.update(connection, 1, KEY, "balance = ?", new Object[] {null})).isTrue();
      assertThat(row(connection)).isEqualTo("0/1");
    }
  }

  @ParameterizedTest
  @EnumSource
  void statementOfTheCallersOwnIsJudgedByItsCount(Dialect dialect) throws SQLException {
    try (Connection connection = withRow(EmptyDatabases.create(dialect))) {
      assertThat(own(connection, 34, 7)).isTrue();
      assertThat(own(connection, 34, 8)).isFalse();
      assertThatThrownBy(() -> own(connection, 33, 7))
          .isInstanceOf(StaleTokenException.class)
          .hasMessageContainingAll("33", "34");
    }
  }

  /** MySQL's drivers can be set to count a row only if one of its values has changed. */
  @Test
  void sameValuesUnderTheSameTokenCountAsWrittenWhenTheDriverCountsChangesOnly()
      throws SQLException {
    DataSource database = EmptyDatabases.create(Dialect.MYSQL);
    try (Connection connection =
        withRow(EmptyDatabases.at(EmptyDatabases.urlOf(database) + "&useAffectedRows=true"))) {
      assertThat(ROWS.update(connection, 34, KEY, "balance = 34")).isTrue();
      assertThat(ROWS.update(connection, 34, KEY, "balance = 34")).isTrue();
      assertThat(ROWS.update(connection, 34, List.of("acme", 8), "balance = 34")).isFalse();
      JdbcFence fence = JdbcFence.create();
      fence.createTable(connection);
      connection.setAutoCommit(false);
      fence.check(connection, "account:7", 34);
      fence.check(connection, "account:7", 34);
      assertThatThrownBy(() -> fence.check(connection, "account:7", 33))
          .isInstanceOf(StaleTokenException.class);
      assertThatThrownBy(() -> fence.strict().check(connection, "account:7", 34))
          .isInstanceOf(StaleTokenException.class);
    }
  }

  @Test
  void badArgumentsAreRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RowFence.on("account", "fence"))
        .withMessageContaining("keyColumns");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RowFence.on("account", "fence = 1 --", "id"))
        .withMessageContaining("fenceColumn");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ROWS.update(null, 33, List.of(7), "balance = 1"))
        .withMessageContainingAll("key", "1", "tenant");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ROWS.update(null, 0, KEY, "balance = 1"))
        .withMessageContaining("token");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ROWS.update(null, 1, KEY, " "))
        .withMessageContaining("assignments");
  }

  private static boolean own(Connection connection, long token, int id) throws SQLException {
    String sql =
        "UPDATE account SET balance = balance + 1, "
            + ROWS.assignment()
            + " WHERE tenant = 'acme' AND id = ? AND "
            + ROWS.predicate();
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, token);
      statement.setInt(2, id);
      statement.setLong(3, token);
      return ROWS.written(connection, statement.executeUpdate(), token, List.of("acme", id));
    }
  }

  private static Connection withRow(DataSource database) throws SQLException {
    Connection connection = database.getConnection();
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE account (tenant VARCHAR(20), id INT, balance BIGINT, fence BIGINT,"
              + " PRIMARY KEY (tenant, id))");
      statement.execute("INSERT INTO account VALUES ('acme', 7, 0, 0)");
    }
    return connection;
  }

  private static String row(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT balance, fence FROM account")) {
      row.next();
      return row.getLong(1) + "/" + row.getLong(2);
    }
  }
}
