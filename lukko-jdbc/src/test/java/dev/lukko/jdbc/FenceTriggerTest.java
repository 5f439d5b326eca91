package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FenceTriggerTest {
  private Connection connection;
  private Statement statement;

  @BeforeEach
  void createTable() throws SQLException {
    connection = EmptyDatabases.create(Dialect.POSTGRES).getConnection();
    statement = connection.createStatement();
    statement.execute("CREATE SCHEMA shop");
    statement.execute(
        "CREATE TABLE shop.account"
            + " (id INT PRIMARY KEY, balance BIGINT, fence BIGINT NOT NULL DEFAULT 0)");
    statement.execute("INSERT INTO shop.account VALUES (7, 0), (8, 0)");
    statement.execute(JdbcFence.triggerDdl("shop.account", "fence"));
    statement.execute(JdbcFence.triggerDdl("shop.account", "fence"));
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
  }

  @Test
  void lowerTokenIsRefusedWithBothNumbersAndEqualPasses() throws SQLException {
    update("balance = 34, fence = 34");
    update("fence = 34, balance = 35");

    SQLException refused = failureOf(() -> update("balance = 33, fence = 33"));

    assertThat(JdbcFence.staleToken(refused))
        .hasValueSatisfying(
            stale -> {
              assertThat(stale.resource()).isEqualTo("shop.account");
              assertThat(stale.token()).isEqualTo(33);
              assertThat(stale.highest()).isEqualTo(34);
              assertThat(stale).hasCause(refused);
            });
    assertThat(JdbcFence.staleToken(new SQLException("wrapped", refused))).isPresent();
    assertThat(row()).isEqualTo("35/34");
  }

  @Test
  void programThatDoesNotKnowOfTheFenceIsRefused() {
    SQLException refused = failureOf(() -> update("balance = 1"));
    assertThat((Throwable) refused)
        .hasMessageContainingAll("shop.account", "without a fencing token", "fence");
    assertThat(JdbcFence.staleToken(refused)).isEmpty();
  }

  @Test
  void tokenThatIsNoneIsRefused() {
    assertThat((Throwable) failureOf(() -> update("fence = -1"))).hasMessageContaining("not valid");
    assertThat((Throwable) failureOf(() -> update("fence = NULL")))
        .hasMessageContaining("not valid");
  }

  @Test
  void writeWithoutALockSaysSoByKeepingTheTokenExplicitly() throws SQLException {
    update("balance = 34, fence = 34");
    update("balance = 40, fence = fence");
    assertThat(row()).isEqualTo("40/34");
  }

  @Test
  void upsertIsAnUpdateForTheFence() throws SQLException {
    String upsert =
        "INSERT INTO shop.account VALUES (7, %1$d, %1$d) ON CONFLICT (id) DO UPDATE"
            + " SET balance = excluded.balance, fence = excluded.fence";
    statement.execute(upsert.formatted(34));
    assertThat((Throwable) failureOf(() -> statement.execute(upsert.formatted(33))))
        .hasMessageContainingAll("33", "34");
    statement.execute(upsert.formatted(Long.MAX_VALUE));
    assertThat(row()).isEqualTo(Long.MAX_VALUE + "/" + Long.MAX_VALUE);
  }

  @Test
  void namesThatAreNotPlainAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JdbcFence.triggerDdl("account$$", "fence"))
        .withMessageContaining("table");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JdbcFence.triggerDdl("account", "fence'"))
        .withMessageContaining("fenceColumn");
  }

  private static SQLException failureOf(ThrowingCallable statement) {
    return catchThrowableOfType(SQLException.class, statement);
  }

  private void update(String assignments) throws SQLException {
    statement.execute("UPDATE shop.account SET " + assignments + " WHERE id = 7");
  }

  private String row() throws SQLException {
    try (ResultSet row =
        statement.executeQuery("SELECT balance, fence FROM shop.account WHERE id = 7")) {
      row.next();
      return row.getLong(1) + "/" + row.getLong(2);
    }
  }
}
