package dev.lukko.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * The settings of a node, checked.
 *
 * @param name the name that was given, or null
 * @param dialect the dialect that was given, or null to ask the connection
 * @param maxConnections how many connections at most, or 0 for what suits the database
 */
record JdbcSettings(
    @Nullable String name,
    @Nullable Dialect dialect,
    int maxConnections,
    int queueCapacity,
    long requestTimeoutMillis,
    long idleMillis,
    long retentionMillis,
    boolean createSchema,
    boolean notifications) {
  private static final int DEFAULT_CONNECTIONS = 4;

  /** How many connections at most, whatever the database is. */
  int connections() {
    return maxConnections > 0 ? maxConnections : DEFAULT_CONNECTIONS;
  }

  /** The request timeout for interfaces that know no smaller unit. */
  int wholeSeconds() {
    return (int) Math.max(1, requestTimeoutMillis / 1_000);
  }
}
