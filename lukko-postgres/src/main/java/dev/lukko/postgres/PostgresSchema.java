package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * What this package keeps in the database: a sequence and seven tables in a schema of their own.
 *
 * <p>Nothing is created behind anybody's back. Print {@link #ddl()} into a migration, or call
 * {@link #create(DataSource)}; both give the same objects. The version is kept in the table {@code
 * schema_version}; every class of this package checks it when it opens, and says what is missing.
 *
 * <p>Immutable and thread-safe.
 */
public final class PostgresSchema {

  /** The version that this release works with. */
  public static final int VERSION = 2;

  /** The schema that is used when none is named. */
  public static final String DEFAULT_NAME = "lukko";

  private static final Pattern IDENTIFIER = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

  private final String name;

  private PostgresSchema(String name) {
    this.name = name;
  }

  /** The schema {@value #DEFAULT_NAME}. */
  public static PostgresSchema standard() {
    return new PostgresSchema(DEFAULT_NAME);
  }

  /**
   * A schema of another name.
   *
   * @param name 1 to 63 characters: lower-case letters, digits and underscores, not a digit first
   */
  public static PostgresSchema named(String name) {
    if (name == null || !IDENTIFIER.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "schema is \""
              + name
              + "\"; it must have 1 to 63 lower-case letters, digits and underscores, and must not"
              + " begin with a digit");
    }
    return new PostgresSchema(name);
  }

  /** The schema's name. */
  public String name() {
    return name;
  }

  /** The statements that create version {@value #VERSION}, in order; each may be run again. */
  public List<String> ddl() {
    return SchemaDdl.statements(name);
  }

  /**
   * Creates what is missing, in one transaction on a connection of its own.
   *
   * @throws IllegalStateException if the DataSource hands out the connection of a transaction that
   *     is running; nothing is created
   * @throws LockException if the server refuses, or holds a newer version
   */
  public void create(DataSource dataSource) {
    try {
      BorrowedConnection borrowed =
          BorrowedConnection.from(
              dataSource,
              "Create the schema before that transaction, or give the DataSource behind the proxy.");
      try {
        borrowed.call(this::createAndCommit);
      } finally {
        borrowed.giveBack();
      }
    } catch (SQLException failure) {
      throw new LockException("schema " + name + " could not be created", failure);
    }
  }

  /**
   * Creates what is missing, in one transaction; instances that start together wait for each other.
   *
   * @param connection in autocommit mode, with the right to create a schema
   * @throws IllegalArgumentException if the connection has a transaction open
   * @throws LockException if the server refuses, or holds a newer version
   */
  public void create(Connection connection) {
    try {
      if (!connection.getAutoCommit()) {
        throw new IllegalArgumentException(
            "connection is not in autocommit mode; the schema is created in a transaction of its"
                + " own");
      }
      connection.setAutoCommit(false);
      try {
        createAndCommit(connection);
      } finally {
        connection.setAutoCommit(true);
      }
    } catch (SQLException failure) {
      throw new LockException("schema " + name + " could not be created", failure);
    }
  }

  private boolean createAndCommit(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "SELECT pg_advisory_xact_lock(" + LockKey.of("lukko-schema", name).lock() + ")");
      for (String ddl : ddl()) {
        statement.execute(ddl);
      }
      check(statement);
      connection.commit();
      return true;
    } catch (SQLException | RuntimeException failure) {
      connection.rollback();
      throw failure;
    }
  }

  /** Throws unless this schema is there in a version that this release can use. */
  void check(Statement statement) throws SQLException {
    try (ResultSet table =
        statement.executeQuery("SELECT to_regclass('" + name + ".schema_version')::text")) {
      if (!table.next() || table.getString(1) == null) {
        throw new UnsuitableDatabaseException(
            "schema "
                + name
                + " is missing: run PostgresSchema.create, or its ddl() as a migration");
      }
    }
    try (ResultSet version =
        statement.executeQuery("SELECT max(version) FROM " + name + ".schema_version")) {
      int found = version.next() ? version.getInt(1) : 0;
      if (found != VERSION) {
        throw new UnsuitableDatabaseException(
            "schema "
                + name
                + " has version "
                + found
                + "; this release needs "
                + VERSION
                + (found < VERSION ? ": run PostgresSchema.create, or its ddl(), again" : ""));
      }
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
