package dev.lukko.jdbc;

/** The SQL databases that Lukko speaks to. */
public enum Dialect {
  /** PostgreSQL 12 or later. */
  POSTGRES,
  /** MySQL 8 and MariaDB 10.5, or later. */
  MYSQL,
  /** H2 2.2 or later. */
  H2,
  /** SQLite 3.35 or later. */
  SQLITE
}
