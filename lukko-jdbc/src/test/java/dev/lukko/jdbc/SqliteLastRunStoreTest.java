package dev.lukko.jdbc;

class SqliteLastRunStoreTest extends JdbcLastRunStoreContract {
  SqliteLastRunStoreTest() {
    super(Dialect.SQLITE);
  }
}
