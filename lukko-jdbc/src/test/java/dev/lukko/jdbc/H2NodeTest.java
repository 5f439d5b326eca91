package dev.lukko.jdbc;

import org.junit.jupiter.api.BeforeAll;

class H2NodeTest extends JdbcNodeContract {
  private static TestDatabase shared;

  @BeforeAll
  static void start() {
    shared = Databases.h2();
  }

  @Override
  TestDatabase database() {
    shared.execute("DELETE FROM lukko_lock");
    shared.execute("DELETE FROM lukko_shared");
    return shared;
  }

  @Override
  JdbcStore storeOn(TestDatabase database) {
    return JdbcStore.embedded(database);
  }
}
