package dev.lukko.jdbc;

class PostgresRedlockTest extends JdbcRedlockContract {
  @Override
  TestDatabase database() {
    return Databases.postgres();
  }
}
