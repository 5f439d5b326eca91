package dev.lukko.jdbc;

import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The settings of a {@link JdbcNode}; each setter checks at once. Not thread-safe. */
public final class JdbcNodeBuilder {
  private static final int MAX_CONNECTIONS = 64;
  private static final int MAX_QUEUE = 100_000;
  private static final int MAX_NAME = 255;
  private static final Duration SHORTEST_REQUEST = Duration.ofMillis(10);
  private static final Duration LONGEST_REQUEST = Duration.ofMinutes(5);
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private final DataSource source;
  private @Nullable String name;
  private @Nullable Dialect dialect;
  private int maxConnections;
  private int queueCapacity = 256;
  private Duration requestTimeout = Duration.ofSeconds(2);
  private Duration idleTimeout = Duration.ofSeconds(30);
  private Duration counterRetention = Duration.ofDays(7);
  private boolean createSchema;
  private boolean notifications = true;

  JdbcNodeBuilder(DataSource source) {
    this.source = Objects.requireNonNull(source, "source");
  }

  /** The node's name in messages, 1 to 255 characters; by default the address of its database. */
  public JdbcNodeBuilder name(String name) {
    if (name == null || name.isEmpty() || name.length() > MAX_NAME) {
      throw new IllegalArgumentException(
          "name is \"" + name + "\"; it must have 1 to " + MAX_NAME + " characters");
    }
    this.name = name;
    return this;
  }

  /** The kind of database; by default the first connection is asked. */
  public JdbcNodeBuilder dialect(Dialect dialect) {
    this.dialect = Objects.requireNonNull(dialect, "dialect");
    return this;
  }

  /**
   * How many connections, and threads, the node has at most, 1 to 64; by default 4, on SQLite 1,
   * since a file has one writer anyway. The one that listens on PostgreSQL comes on top.
   */
  public JdbcNodeBuilder maxConnections(int maxConnections) {
    this.maxConnections = inRange("maxConnections", maxConnections, 1, MAX_CONNECTIONS);
    return this;
  }

  /**
   * How many requests may wait for a connection, 0 to 100,000; more fail at once. By default 256.
   */
  public JdbcNodeBuilder queueCapacity(int queueCapacity) {
    this.queueCapacity = inRange("queueCapacity", queueCapacity, 0, MAX_QUEUE);
    return this;
  }

  /**
   * When a request that has no answer is given up, 10 ms to 5 minutes, counted from the call; by
   * default 2 s. It spans the wait for a connection, the database's own lock waits and all retries
   * after conflicts.
   */
  public JdbcNodeBuilder requestTimeout(Duration requestTimeout) {
    this.requestTimeout =
        between("requestTimeout", requestTimeout, SHORTEST_REQUEST, LONGEST_REQUEST);
    return this;
  }

  /** When a connection that nobody has used is closed, at least 1 s; by default 30 s. */
  public JdbcNodeBuilder idleTimeout(Duration idleTimeout) {
    this.idleTimeout =
        between("idleTimeout", idleTimeout, Duration.ofSeconds(1), Duration.ofDays(1));
    return this;
  }

  /**
   * How long the counter of a resource is kept after its last entry has ended, at least 1 ms; by
   * default 7 days. It must be longer than the clocks of clients can differ.
   */
  public JdbcNodeBuilder counterRetention(Duration counterRetention) {
    this.counterRetention =
        between("counterRetention", counterRetention, Duration.ofMillis(1), LONGEST);
    return this;
  }

  /** Whether the first connection creates the tables that are missing; by default not. */
  public JdbcNodeBuilder createSchema(boolean createSchema) {
    this.createSchema = createSchema;
    return this;
  }

  /** Whether releases are announced and waiters listen, on PostgreSQL; by default they do. */
  public JdbcNodeBuilder notifications(boolean notifications) {
    this.notifications = notifications;
    return this;
  }

  /**
   * A node. It connects once, and waits no longer than the request timeout for that; a database
   * that cannot be reached is no error, it joins when it can.
   *
   * @throws IllegalStateException if the database answers, but the lock's tables are missing or
   *     have another version than this library
   */
  public JdbcNode build() {
    return build(Ticker.system());
  }

  JdbcNode build(Ticker ticker) {
    return new JdbcNode(
        source,
        new JdbcSettings(
            name,
            dialect,
            maxConnections,
            queueCapacity,
            requestTimeout.toMillis(),
            idleTimeout.toMillis(),
            counterRetention.toMillis(),
            createSchema,
            notifications),
        ticker);
  }

  private static int inRange(String field, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          field + " is " + value + "; it must be between " + min + " and " + max);
    }
    return value;
  }

  private static Duration between(
      String field, @Nullable Duration value, Duration min, Duration max) {
    if (value == null || value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          field + " is " + value + "; it must be between " + min + " and " + max);
    }
    return value;
  }
}
