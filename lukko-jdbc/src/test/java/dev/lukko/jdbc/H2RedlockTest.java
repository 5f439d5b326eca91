package dev.lukko.jdbc;

class H2RedlockTest extends JdbcRedlockContract {
  @Override
  TestDatabase database() {
    return Databases.h2();
  }
}
