package dev.lukko.jdbc;

class H2LastRunStoreTest extends JdbcLastRunStoreContract {
  H2LastRunStoreTest() {
    super(Dialect.H2);
  }
}
