package dev.lukko.jdbc;

class PostgresJdbcLastRunStoreTest extends JdbcLastRunStoreContract {
  PostgresJdbcLastRunStoreTest() {
    super(Dialect.POSTGRES);
  }
}
