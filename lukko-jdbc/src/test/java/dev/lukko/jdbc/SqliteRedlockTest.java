package dev.lukko.jdbc;

class SqliteRedlockTest extends JdbcRedlockContract {
  @Override
  TestDatabase database() {
    return Databases.sqlite();
  }
}
