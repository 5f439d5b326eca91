package dev.lukko.jdbc;

class MariaDbRedlockTest extends JdbcRedlockContract {
  @Override
  TestDatabase database() {
    return Databases.mariaDb();
  }
}
