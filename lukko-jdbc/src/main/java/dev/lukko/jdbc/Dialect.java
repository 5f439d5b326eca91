package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;

/** The SQL databases that can be a lock node. */
public enum Dialect {
  /** PostgreSQL 12 or later. */
  POSTGRES,
  /** MySQL 8.0 or later, and MariaDB 10.5 or later. */
  MYSQL,
  /** H2 2.2 or later, embedded or as a server. */
  H2,
  /** SQLite 3.24 or later, a file on a local disk. */
  SQLITE;

  DialectTraits traits() {
    return switch (this) {
      case POSTGRES -> PostgresTraits.INSTANCE;
      case MYSQL -> MySqlTraits.INSTANCE;
      case H2 -> H2Traits.INSTANCE;
      case SQLITE -> SqliteTraits.INSTANCE;
    };
  }

  /**
   * Whether the database is never inside this process. Then whoever waits for it waits for a
   * socket: its connection can be aborted, and an interrupt closes no file of others.
   */
  boolean isAlwaysAServer() {
    return this == POSTGRES || this == MYSQL;
  }

  /**
   * The dialect of an open connection, by its metadata.
   *
   * @throws SQLException if the metadata cannot be read, or the database is none of these
   */
  public static Dialect of(Connection connection) throws SQLException {
    String product = connection.getMetaData().getDatabaseProductName();
    return switch (product.toLowerCase(Locale.ROOT)) {
      case "postgresql" -> POSTGRES;
      case "mysql", "mariadb" -> MYSQL;
      case "h2" -> H2;
      case "sqlite" -> SQLITE;
      default ->
          throw new SQLException(
              "the database calls itself \""
                  + product
                  + "\"; a lock node can be PostgreSQL, MySQL, MariaDB, H2 or SQLite");
    };
  }
}
