package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.fencing.RequestFingerprint;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names are compared exactly, whatever the database's collation is. */
class ExactNamesTest {
  private static final String[] NAMES = {"acc", "Acc", "ACC", "\u00E4cc", "acc ", "\u0430cc"};

  private static DataSource h2(String settings) {
    return EmptyDatabases.at("jdbc:h2:mem:exact" + System.nanoTime() + settings);
  }

  private static void assertExact(DataSource database) throws SQLException {
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    JdbcFence fence = JdbcFence.create();
    keys.createTable();
    try (Connection connection = database.getConnection()) {
      fence.createTable(connection);
      connection.setAutoCommit(false);
      long token = 100;
      for (String name : NAMES) {
        assertThat(keys.runOnce(name, RequestFingerprint.of(name), work -> name)).isEqualTo(name);
        fence.check(connection, name, token--);
      }
      connection.commit();
    }
    for (String name : NAMES) {
      assertThat(keys.runOnce(name, RequestFingerprint.of(name), work -> "again")).isEqualTo(name);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ";DB_CLOSE_DELAY=-1;IGNORECASE=TRUE",
        ";DB_CLOSE_DELAY=-1;INIT=SET COLLATION ENGLISH STRENGTH PRIMARY"
      })
  void h2ThatIsSetToIgnoreTheCaseOrAccents(String settings) throws SQLException {
    assertExact(h2(settings));
  }

  @Test
  void h2WhoseTablesWereCreatedWithTextColumns_goesOnAndIsExactAfterTheDocumentedChange()
      throws SQLException {
    DataSource database = h2(";DB_CLOSE_DELAY=-1");
    try (Connection connection = database.getConnection()) {
      DialectTraits.execute(
          connection,
          "CREATE TABLE lukko_fence (resource VARCHAR(255) NOT NULL PRIMARY KEY,"
              + " token BIGINT NOT NULL, written BIGINT NOT NULL, touched_at BIGINT NOT NULL)");
      DialectTraits.execute(
          connection, "INSERT INTO lukko_fence VALUES ('\u00E4cc', 34, 34, 0), ('acc', 34, 34, 0)");
      connection.setAutoCommit(false);
      for (String known : new String[] {"\u00E4cc", "acc"}) {
        org.assertj.core.api.Assertions.assertThatThrownBy(
                () -> JdbcFence.create().check(connection, known, 33))
            .as("before the change")
            .isInstanceOf(SQLException.class);
      }
      connection.rollback();
      connection.setAutoCommit(true);
      DialectTraits.execute(
          connection, "ALTER TABLE lukko_fence ALTER COLUMN resource VARBINARY(765) NOT NULL");
      connection.setAutoCommit(false);
      JdbcFence.create().check(connection, "\u00E4cc", 34);
      org.assertj.core.api.Assertions.assertThatThrownBy(
              () -> JdbcFence.create().check(connection, "\u00E4cc", 33))
          .isInstanceOf(dev.lukko.fencing.StaleTokenException.class);
    }
  }

  @Test
  void postgresIndexesOfNames_doNotFollowTheOperatingSystemsOrderOfLetters() throws SQLException {
    DataSource database = Databases.postgresSource();
    assertExact(database);
    try (Connection connection = database.getConnection()) {
      assertThat(
              DialectTraits.texts(
                  connection,
                  "SELECT collation_name FROM information_schema.columns"
                      + " WHERE column_name IN ('resource', 'idempotency_key')"))
          .containsExactly("C", "C");
    }
  }
}
