package dev.lukko.postgres;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which table a {@link SkipLockedQueue} works on, and what its columns are called: ours, or one of
 * the application's own. Immutable.
 *
 * <p>A table of one's own needs a {@code bigint} key, and columns for readiness ({@code
 * timestamptz}), attempts ({@code integer}) and death ({@code timestamptz}, null for the living).
 * The others are for features: leases need a token ({@code bigint}), priorities an {@code integer},
 * ordering a {@code text}. What decides whether a row is found must not be null; the first call of
 * the queue checks all of that. Have an index on the rank, or on readiness and key, over the rows
 * that are neither dead nor done.
 */
public final class QueueTable {
  private static final Pattern NAME = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
  private static final Pattern TABLE =
      Pattern.compile("([a-z_][a-z0-9_]{0,62}\\.)?[a-z_][a-z0-9_]{0,62}");

  final String table;
  final String id;
  final @Nullable String queue;
  final @Nullable String payload;
  final String readyAt;
  final String attempts;
  final String deadAt;
  final @Nullable String doneAt;
  final @Nullable String priority;
  final @Nullable String rank;
  final @Nullable String orderingKey;
  final @Nullable String leaseToken;
  final @Nullable String lastError;

  private QueueTable(Builder builder) {
    table = builder.table;
    id = builder.id;
    queue = builder.queue;
    payload = builder.payload;
    readyAt = builder.readyAt;
    attempts = builder.attempts;
    deadAt = builder.deadAt;
    doneAt = builder.doneAt;
    priority = builder.priority;
    rank = builder.rank;
    orderingKey = builder.orderingKey;
    leaseToken = builder.leaseToken;
    lastError = builder.lastError;
  }

  /** The table {@code queue} of a schema of ours, which carries any number of named queues. */
  static QueueTable ours(PostgresSchema schema) {
    Builder builder = new Builder(schema.name() + ".queue");
    builder.queue = "queue";
    builder.rank = "rank";
    return builder
        .payload("payload")
        .priority("priority")
        .orderingKey("ordering_key")
        .leaseToken("lease_token")
        .lastError("last_error")
        .build();
  }

  /**
   * A builder for a table of the application's own.
   *
   * @param table its name, with or without a schema: lower-case letters, digits, underscores
   */
  public static Builder builder(String table) {
    if (table == null || !TABLE.matcher(table).matches()) {
      throw new IllegalArgumentException(
          "table is \"" + table + "\"; it must be name or schema.name in lower case");
    }
    return new Builder(table);
  }

  @Override
  public String toString() {
    return table;
  }

  /** Collects the names of the columns; each setter checks its value. Not thread-safe. */
  public static final class Builder {
    private final String table;
    private String id = "id";
    private @Nullable String queue;
    private @Nullable String payload;
    private String readyAt = "ready_at";
    private String attempts = "attempts";
    private String deadAt = "dead_at";
    private @Nullable String doneAt;
    private @Nullable String priority;
    private @Nullable String rank;
    private @Nullable String orderingKey;
    private @Nullable String leaseToken;
    private @Nullable String lastError;

    private Builder(String table) {
      this.table = table;
    }

    /** The key, {@code bigint}; default {@code id}. */
    public Builder id(String column) {
      id = checked("id", column);
      return this;
    }

    /** What the rows give to the worker, read as text; default none. */
    public Builder payload(String column) {
      payload = checked("payload", column);
      return this;
    }

    /** From when a row may be worked on, {@code timestamptz}; default {@code ready_at}. */
    public Builder readyAt(String column) {
      readyAt = checked("readyAt", column);
      return this;
    }

    /** How often it was tried, {@code integer}; default {@code attempts}. */
    public Builder attempts(String column) {
      attempts = checked("attempts", column);
      return this;
    }

    /** When it was given up, {@code timestamptz}; default {@code dead_at}. */
    public Builder deadAt(String column) {
      deadAt = checked("deadAt", column);
      return this;
    }

    /** When it was finished, {@code timestamptz}; without it a finished row is deleted. */
    public Builder doneAt(String column) {
      doneAt = checked("doneAt", column);
      return this;
    }

    /** How urgent it is, {@code integer}, higher first; default none. */
    public Builder priority(String column) {
      priority = checked("priority", column);
      return this;
    }

    /** A row of the same text is only worked on after this one; default none. */
    public Builder orderingKey(String column) {
      orderingKey = checked("orderingKey", column);
      return this;
    }

    /** Who has it on lease, {@code bigint}; needed for {@link SkipLockedQueue#lease}. */
    public Builder leaseToken(String column) {
      leaseToken = checked("leaseToken", column);
      return this;
    }

    /** Why the last try failed, {@code text}; default none. */
    public Builder lastError(String column) {
      lastError = checked("lastError", column);
      return this;
    }

    /** The table as described. */
    public QueueTable build() {
      return new QueueTable(this);
    }

    private static String checked(String field, String column) {
      if (column == null || !NAME.matcher(column).matches()) {
        throw new IllegalArgumentException(
            field
                + " is \""
                + column
                + "\"; it must have 1 to 63 lower-case letters, digits and underscores");
      }
      return column;
    }
  }
}
