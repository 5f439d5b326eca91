package dev.lukko.jdbc;

class MariaDbLastRunStoreTest extends JdbcLastRunStoreContract {
  MariaDbLastRunStoreTest() {
    super(Dialect.MYSQL);
  }
}
