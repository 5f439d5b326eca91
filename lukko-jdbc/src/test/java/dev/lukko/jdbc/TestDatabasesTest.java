package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TestDatabasesTest {

  @ParameterizedTest
  @EnumSource
  void eachDatabaseIsItsOwnAndCanBeReachedByItsUrl(Dialect dialect) throws Exception {
    UrlDataSource one = TestDatabases.create(dialect);
    UrlDataSource other = TestDatabases.create(dialect);
    try (Connection a = one.getConnection();
        Connection b = other.getConnection();
        Connection again = DriverManager.getConnection(one.url());
        Statement create = a.createStatement();
        Statement createOther = b.createStatement();
        Statement query = again.createStatement()) {
      create.execute("CREATE TABLE t (id INT PRIMARY KEY)");
      createOther.execute("CREATE TABLE t (id INT PRIMARY KEY)");
      create.execute("INSERT INTO t VALUES (7)");
      try (ResultSet row = query.executeQuery("SELECT id FROM t")) {
        assertThat(row.next()).isTrue();
        assertThat(row.getInt(1)).isEqualTo(7);
      }
      try (ResultSet row = createOther.executeQuery("SELECT id FROM t")) {
        assertThat(row.next()).isFalse();
      }
    }
  }
}
