package dev.lukko.cli;

import dev.lukko.jdbc.Dialect;
import dev.lukko.jdbc.IdempotencyKeys;
import dev.lukko.jdbc.JdbcFence;
import dev.lukko.jdbc.JdbcLastRunStore;
import dev.lukko.jdbc.JdbcSchema;
import dev.lukko.postgres.PostgresSchema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Prints what an SQL database needs for locks, fences, idempotency keys and jobs. */
@Command(
    name = "ddl",
    header = "Prints the tables that an SQL database needs.",
    description = {
      "",
      "Prints a script for the database's own client: the tables of a lock node, and what else is"
          + " asked for. It can be run again without harm. Connects to nothing.",
      ""
    },
    sortOptions = false,
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:printed", "64:the command line is wrong; nothing was printed"},
    footer = {
      "",
      "Names of tables are TABLE or SCHEMA.TABLE, of letters, digits and _.",
      "",
      "Examples:",
      "  lukko ddl --dialect postgres | psql",
      "  lukko ddl --dialect postgres --no-lock --postgres-schema | psql",
      "  lukko ddl --dialect mysql --fence --idempotency",
      "  lukko ddl --dialect postgres --no-lock --fence-trigger shop.account"
    })
final class DdlCommand implements Callable<Integer> {

  private static final Map<String, Dialect> DIALECTS = new LinkedHashMap<>();

  static {
    DIALECTS.put("postgres", Dialect.POSTGRES);
    DIALECTS.put("mysql", Dialect.MYSQL);
    DIALECTS.put("mariadb", Dialect.MYSQL);
    DIALECTS.put("h2", Dialect.H2);
    DIALECTS.put("sqlite", Dialect.SQLITE);
  }

  private static final String DEFAULT_COLUMN = "fence";

  private final Surroundings surroundings;

  @Option(
      names = "--dialect",
      paramLabel = "NAME",
      required = true,
      description = "The database: postgres, mysql, mariadb, h2 or sqlite.")
  private String dialect = "";

  @Option(names = "--no-lock", description = "Leaves out the tables of a lock node.")
  private boolean noLock;

  @Option(
      names = "--fence",
      arity = "0..1",
      paramLabel = "TABLE",
      fallbackValue = JdbcFence.DEFAULT_TABLE,
      description =
          "Adds the table of fencing tokens, for JdbcFence. Default name: "
              + JdbcFence.DEFAULT_TABLE
              + ".")
  private @Nullable String fence;

  @Option(
      names = "--idempotency",
      arity = "0..1",
      paramLabel = "TABLE",
      fallbackValue = IdempotencyKeys.DEFAULT_TABLE,
      description =
          "Adds the table of idempotency keys. Default name: "
              + IdempotencyKeys.DEFAULT_TABLE
              + ".")
  private @Nullable String idempotency;

  @Option(
      names = "--jobs",
      description = "Adds the tables of scheduled jobs, for JdbcLastRunStore.")
  private boolean jobs;

  @Option(
      names = "--fence-trigger",
      paramLabel = "TABLE",
      description =
          "Adds triggers that refuse updates of TABLE without the token of the lock's holder;"
              + " PostgreSQL only. Give it once for each table.")
  private @Nullable List<String> triggers;

  @Option(
      names = "--fence-column",
      paramLabel = "COLUMN",
      description = "The column of the token in these tables. Default: fence.")
  private @Nullable String column;

  @Option(
      names = "--postgres-schema",
      arity = "0..1",
      paramLabel = "NAME",
      fallbackValue = PostgresSchema.DEFAULT_NAME,
      description =
          "Adds the schema of PostgreSQL's session locks, queue and scheduled jobs;"
              + " PostgreSQL only. Default name: "
              + PostgresSchema.DEFAULT_NAME
              + ".")
  private @Nullable String postgresSchema;

  DdlCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    // Whole before the first character is printed: a script that breaks off could be run.
    surroundings.out().print(script(dialect()));
    return ExitCode.OK;
  }

  private Dialect dialect() {
    Dialect known = DIALECTS.get(dialect.toLowerCase(Locale.ROOT));
    if (known == null) {
      throw new UsageException(
          "unknown dialect '" + dialect + "'; known are " + String.join(", ", DIALECTS.keySet()));
    }
    return known;
  }

  private String script(Dialect known) {
    if (triggers != null && known != Dialect.POSTGRES) {
      throw new UsageException(
          "--fence-trigger is for postgres only; with " + dialect + " use --fence");
    }
    if (postgresSchema != null && known != Dialect.POSTGRES) {
      throw new UsageException("--postgres-schema is for postgres only");
    }
    if (triggers == null && column != null) {
      throw new UsageException("--fence-column goes with --fence-trigger TABLE");
    }
    List<String> parts = new ArrayList<>();
    if (!noLock) {
      parts.add(JdbcSchema.ddl(known));
    }
    String fenceTable = fence;
    if (fenceTable != null) {
      parts.add(named("--fence", () -> JdbcFence.create().inTable(fenceTable).ddl(known) + ";\n"));
    }
    String keyTable = idempotency;
    if (keyTable != null) {
      parts.add(
          named(
              "--idempotency",
              () -> String.join(";\n\n", IdempotencyKeys.ddl(known, keyTable)) + ";\n"));
    }
    if (jobs) {
      parts.add(String.join(";\n\n", JdbcLastRunStore.ddl(known)) + ";\n");
    }
    String schemaName = postgresSchema;
    if (schemaName != null) {
      parts.add(
          named(
              "--postgres-schema",
              () -> String.join(";\n\n", PostgresSchema.named(schemaName).ddl()) + ";\n"));
    }
    String tokenColumn = column == null ? DEFAULT_COLUMN : column;
    for (String table : triggers == null ? List.<String>of() : triggers) {
      parts.add(named("--fence-trigger", () -> JdbcFence.triggerDdl(table, tokenColumn)));
    }
    if (parts.isEmpty()) {
      throw new UsageException(
          "nothing to print: give --fence, --idempotency, --jobs, --postgres-schema or --fence-trigger"
              + " with --no-lock");
    }
    return String.join("\n", parts);
  }

  private static String named(String option, Supplier<String> ddl) {
    try {
      return ddl.get();
    } catch (IllegalArgumentException malformed) {
      throw new UsageException(option + ": " + malformed.getMessage());
    }
  }
}
