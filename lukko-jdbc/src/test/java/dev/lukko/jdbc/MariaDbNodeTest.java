package dev.lukko.jdbc;

import org.junit.jupiter.api.BeforeAll;

class MariaDbNodeTest extends JdbcNodeContract {
  private static TestDatabase shared;

  @BeforeAll
  static void start() {
    shared = Databases.mariaDb();
  }

  @Override
  TestDatabase database() {
    shared.execute("DELETE FROM lukko_lock");
    shared.execute("DELETE FROM lukko_shared");
    return shared;
  }

  @Override
  JdbcStore storeOn(TestDatabase database) {
    return JdbcStore.onServer(
        database,
        "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE()"
            + " AND id <> CONNECTION_ID()",
        Databases::restartMariaDb);
  }
}
