package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.jdbc.Dialect;
import dev.lukko.jdbc.IdempotencyKeys;
import dev.lukko.jdbc.JdbcFence;
import dev.lukko.jdbc.JdbcSchema;
import dev.lukko.postgres.PostgresSchema;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DdlCommandTest {

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({
    "postgres, POSTGRES",
    "mysql, MYSQL",
    "mariadb, MYSQL",
    "h2, H2",
    "sqlite, SQLITE",
    "SQLite, SQLITE"
  })
  void theTablesOfALockNodeArePrintedAndNothingElse(String name, Dialect dialect) {
    assertThat(printed("--dialect", name)).isEqualTo(JdbcSchema.ddl(dialect));
  }

  @Test
  void theSchemaOfSessionLocksQueueAndJobsIsPrintedForPostgresAlone() {
    assertThat(printed("--dialect", "postgres", "--no-lock", "--postgres-schema"))
        .isEqualTo(String.join(";\n\n", PostgresSchema.standard().ddl()) + ";\n");
    assertThat(printed("--dialect", "postgres", "--no-lock", "--postgres-schema", "jobs"))
        .contains("jobs.fencing_token");
    assertThat(Invocation.of("ddl", "--dialect", "h2", "--postgres-schema").err())
        .contains("--postgres-schema is for postgres only");
    assertThat(Invocation.of("ddl", "--dialect", "postgres", "--postgres-schema", "A B").exitCode())
        .isEqualTo(ExitCode.USAGE);
  }

  /** PostgreSQL's script has what no other database takes; the library's tests run it there. */
  @ParameterizedTest
  @CsvSource({
    "h2, jdbc:h2:mem:",
    "mysql, jdbc:h2:mem:;MODE=MySQL",
    "mariadb, jdbc:h2:mem:;MODE=MariaDB",
    "sqlite, jdbc:sqlite:"
  })
  void theWholeScriptIsAcceptedTwiceAndMakesTheTables(String dialect, String url)
      throws SQLException {
    String script = printed("--dialect", dialect, "--fence", "--idempotency", "--jobs");
    String database = url.startsWith("jdbc:sqlite:") ? url + directory.resolve("ddl.db") : url;

    try (Connection connection = DriverManager.getConnection(database);
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < 2; i++) {
        for (String sql : script.split(";\n", 0)) {
          if (!sql.isBlank()) {
            statement.execute(sql);
          }
        }
      }

      assertThat(tables(connection))
          .contains(
              "lukko_schema",
              "lukko_lock",
              "lukko_shared",
              "lukko_fleet",
              "lukko_fence",
              "lukko_idempotency",
              "lukko_job",
              "lukko_job_run");
      try (ResultSet rows =
          statement.executeQuery("SELECT count(*), max(version) FROM lukko_schema")) {
        assertThat(rows.next()).isTrue();
        assertThat(rows.getInt(1)).isEqualTo(1);
        assertThat(rows.getInt(2)).isEqualTo(JdbcSchema.VERSION);
      }
    }
  }

  @Test
  void otherTablesComeByTheirNamesAndWithoutTheLockIfAsked() {
    assertThat(
            printed(
                "--dialect",
                "h2",
                "--no-lock",
                "--fence",
                "shop.tokens",
                "--idempotency=shop.once"))
        .isEqualTo(
            JdbcFence.create().inTable("shop.tokens").ddl(Dialect.H2)
                + ";\n\n"
                + String.join(";\n\n", IdempotencyKeys.ddl(Dialect.H2, "shop.once"))
                + ";\n");
  }

  @Test
  void theTriggersOfEachTableArePrinted() {
    assertThat(
            printed("--dialect=postgres", "--no-lock", "--fence-trigger=a", "--fence-trigger=s.b"))
        .isEqualTo(
            JdbcFence.triggerDdl("a", "fence") + "\n" + JdbcFence.triggerDdl("s.b", "fence"));
    assertThat(printed("--dialect=postgres", "--fence-trigger=a", "--fence-column=highest"))
        .isEqualTo(JdbcSchema.ddl(Dialect.POSTGRES) + "\n" + JdbcFence.triggerDdl("a", "highest"));
  }

  private static String printed(String... args) {
    List<String> all = new ArrayList<>(List.of("ddl"));
    all.addAll(List.of(args));
    Invocation ddl = Invocation.of(all.toArray(String[]::new));
    assertThat(ddl.err()).isEmpty();
    assertThat(ddl.exitCode()).isZero();
    return ddl.out();
  }

  private static List<String> tables(Connection connection) throws SQLException {
    DatabaseMetaData metaData = connection.getMetaData();
    List<String> tables = new ArrayList<>();
    try (ResultSet rows = metaData.getTables(null, null, "%", null)) {
      while (rows.next()) {
        tables.add(rows.getString("TABLE_NAME").toLowerCase(Locale.ROOT));
      }
    }
    return tables;
  }
}
