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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  @ParameterizedTest
  @ValueSource(ints = {43, 44, 50, 51, 56, 63})
  void tablesWithLongNamesThatDifferAtTheirEndsOnlyHaveTheirOwnTriggers(int length)
      throws SQLException {
    String one = "a".repeat(length - 1) + "1";
    String other = "a".repeat(length - 1) + "2";
    for (String table : new String[] {one, other}) {
      statement.execute(
          "CREATE TABLE " + table + " (id INT, v INT, fence BIGINT NOT NULL DEFAULT 0)");
      statement.execute("INSERT INTO " + table + " VALUES (1, 0)");
      statement.execute(JdbcFence.triggerDdl(table, "fence"));
      statement.execute(JdbcFence.triggerDdl(table, "fence"));
    }
    for (String table : new String[] {one, other}) {
      statement.execute("UPDATE " + table + " SET v = 34, fence = 34");
      SQLException refused =
          failureOf(() -> statement.execute("UPDATE " + table + " SET v = 33, fence = 33"));
      assertThat(JdbcFence.staleToken(refused))
          .hasValueSatisfying(stale -> assertThat(stale.resource()).isEqualTo(table));
      assertThat((Throwable) failureOf(() -> statement.execute("UPDATE " + table + " SET v = 1")))
          .hasMessageContaining("without a fencing token");
    }
  }

  @Test
  void triggersUnderTheNamesOfOldAreReplaced() throws SQLException {
    String table = "a".repeat(46);
    statement.execute(
        "CREATE TABLE " + table + " (id INT, v INT, fence BIGINT NOT NULL DEFAULT 0)");
    statement.execute("INSERT INTO " + table + " VALUES (1, 0)");
    statement.execute(JdbcFence.triggerDdl(table, "fence"));
    // As they were made when PostgreSQL was left to cut the names.
    statement.execute(
        "CREATE TRIGGER lukko_fence_"
            + table
            + "_1_mark BEFORE UPDATE OF fence ON "
            + table
            + " FOR EACH ROW EXECUTE FUNCTION "
            + DialectTraits.texts(
                    connection, "SELECT proname FROM pg_proc WHERE proname LIKE '%aaa%mark'")
                .get(0)
            + "()");
    statement.execute("UPDATE " + table + " SET fence = 1");
    assertThat(DialectTraits.number(connection, "SELECT fence FROM " + table)).isNotEqualTo(1);
    statement.execute(JdbcFence.triggerDdl(table, "fence"));
    statement.execute("UPDATE " + table + " SET fence = 5");
    assertThat(DialectTraits.number(connection, "SELECT fence FROM " + table)).isEqualTo(5);
  }

  @Test
  void updateWithoutATokenIsRefusedAlsoWhileTheFenceIsNullOrNegative() throws SQLException {
    statement.execute("CREATE TABLE plain (id INT, v INT, fence BIGINT)");
    statement.execute("INSERT INTO plain VALUES (1, 0, NULL), (2, 0, -5)");
    statement.execute(JdbcFence.triggerDdl("plain", "fence"));
    for (int id = 1; id <= 2; id++) {
      String where = " WHERE id = " + id;
      assertThat((Throwable) failureOf(() -> statement.execute("UPDATE plain SET v = 1" + where)))
          .hasMessageContaining("without a fencing token");
      statement.execute("UPDATE plain SET v = 34, fence = 34" + where);
      assertThat(
              JdbcFence.staleToken(
                  failureOf(() -> statement.execute("UPDATE plain SET v = 3, fence = 33" + where))))
          .isPresent();
    }
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
