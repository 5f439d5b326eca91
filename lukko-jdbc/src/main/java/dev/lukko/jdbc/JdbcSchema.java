package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * The tables of a lock node: {@code lukko_lock}, {@code lukko_shared}, {@code lukko_fleet} with the
 * records of the fleets that it serves, and {@code lukko_schema}, which says which version they
 * have, and by which random identity the node can be told from every other.
 *
 * <p>A node does not create them unless it was asked to, since its user may not be allowed to: run
 * what {@link #ddl} prints, or call {@link #create(DataSource)} once.
 */
public final class JdbcSchema {
  /** The version of the lock's tables that this library knows. */
  public static final int VERSION = 3;

  private static final String OF_LOCK = " FROM lukko_schema WHERE component = 'lock'";
  static final String TO_THIS_VERSION =
      "UPDATE lukko_schema SET version = "
          + VERSION
          + " WHERE component = 'lock' AND version < "
          + VERSION;
  private static final String FIND_VERSION = "SELECT version" + OF_LOCK;

  private static final int ATTEMPTS = 5;

  private JdbcSchema() {}

  /** The statements that create the tables, as a script; it can be run again without harm. */
  public static String ddl(Dialect dialect) {
    return String.join(";\n\n", dialect.traits().schema()) + ";\n";
  }

  /**
   * Creates the tables where they do not exist, in the schema that the data source's connections
   * use by default.
   *
   * @throws SQLException if the database refuses, or is none of the known ones
   * @throws IllegalStateException if the connection comes with a transaction in it, which this
   *     would commit
   */
  public static void create(DataSource source) throws SQLException {
    OwnTransactions.run(
        source,
        "the creation of tables",
        "",
        (connection, dialect) -> {
          create(connection, dialect);
          return true;
        });
  }

  static void create(Connection connection, Dialect dialect) throws SQLException {
    if (isUpToDate(connection, dialect)) {
      return;
    }
    for (int attempt = 1; ; attempt++) {
      try {
        for (String statement : dialect.traits().schema()) {
          DialectTraits.execute(connection, statement);
        }
        upgrade(connection);
        return;
      } catch (SQLException failure) {
        // "If not exists" is no lock: two that create at once can collide in the catalogue.
        if (attempt == ATTEMPTS || isOut(connection)) {
          throw failure;
        }
      }
    }
  }

  /**
   * Brings older tables to this version: since 2 each entry knows how much time it was given, since
   * 3 there is a table of records, which was created before.
   */
  private static void upgrade(Connection connection) throws SQLException {
    long found = DialectTraits.number(connection, FIND_VERSION);
    if (found < 1 || found >= VERSION) {
      return;
    }
    for (String table : new String[] {"lukko_lock", "lukko_shared"}) {
      if (!hasColumn(connection, table)) {
        DialectTraits.execute(
            connection, "ALTER TABLE " + table + " ADD COLUMN ttl BIGINT DEFAULT 0 NOT NULL");
      }
    }
    DialectTraits.execute(connection, TO_THIS_VERSION);
  }

  private static boolean hasColumn(Connection connection, String table) {
    try {
      DialectTraits.texts(connection, "SELECT ttl FROM " + table + " WHERE 1 = 0");
      return true;
    } catch (SQLException missing) {
      return false; // Or the next statement says what is wrong.
    }
  }

  private static boolean isOut(Connection connection) throws SQLException {
    return connection.isClosed() || !connection.isValid(1);
  }

  private static boolean isUpToDate(Connection connection, Dialect dialect) throws SQLException {
    try {
      check(connection, dialect);
      return true;
    } catch (SchemaException missingOrOther) {
      return false;
    }
  }

  /**
   * Refuses a database whose tables are missing, older or newer than this library's.
   *
   * @return which tables they are
   */
  static Place check(Connection connection, Dialect dialect) throws SQLException {
    DialectTraits traits = dialect.traits();
    String sql = "SELECT version, identity, " + traits.where() + OF_LOCK;
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet rows = statement.executeQuery()) {
      if (!rows.next()) {
        throw missing(dialect, null);
      }
      int found = rows.getInt(1);
      if (found != VERSION) {
        throw new SchemaException(
            "the lock's tables have version "
                + found
                + ", this library knows version "
                + VERSION
                + (found > VERSION
                    ? "; use a newer library with this database"
                    : "; JdbcSchema.create(dataSource) and createSchema(true) upgrade the tables, or"
                        + " run "
                        + (found == 2 ? byHand(dialect) : "what the guide to SQL nodes says")),
            null);
      }
      return new Place(
          FleetTable.identityIn(rows, 2), rows.getString(3), traits.server(connection));
    } catch (SQLException failure) {
      if (dialect.traits().isMissingTable(failure)) {
        throw missing(dialect, failure);
      }
      throw failure;
    }
  }

  private static String byHand(Dialect dialect) {
    return "the statements of JdbcSchema.ddl(Dialect." + dialect + "), then " + TO_THIS_VERSION;
  }

  private static SchemaException missing(
      Dialect dialect, @org.jspecify.annotations.Nullable SQLException cause) {
    return new SchemaException(
        "the lock's tables are missing; create them with JdbcSchema.create(dataSource), with"
            + " createSchema(true), or run the statements of JdbcSchema.ddl(Dialect."
            + dialect
            + ")",
        cause);
  }
}
