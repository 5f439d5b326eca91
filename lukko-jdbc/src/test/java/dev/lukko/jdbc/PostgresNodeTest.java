package dev.lukko.jdbc;

import org.junit.jupiter.api.BeforeAll;

class PostgresNodeTest extends JdbcNodeContract {
  private static TestDatabase shared;

  @BeforeAll
  static void start() {
    shared = Databases.postgres();
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
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"
            + " AND pid <> pg_backend_pid()",
        Databases::crashPostgres);
  }
}
