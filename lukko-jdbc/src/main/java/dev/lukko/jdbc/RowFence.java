package dev.lukko.jdbc;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.fencing.FenceArguments;
import dev.lukko.fencing.StaleTokenException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A fence in a column of the protected row itself: the check is a condition of the update, so it
 * costs no statement at all.
 *
 * <pre>{@code
 * RowFence accounts = RowFence.on("account", "fence", "id");
 * boolean found = accounts.update(connection, lease, List.of(7), "balance = ?", 100);
 * }</pre>
 *
 * <p>runs {@code UPDATE account SET balance = ?, fence = ? WHERE id = ? AND (fence <= ? OR fence IS
 * NULL)}. Check and write are one statement, so it is right in autocommit mode and at every
 * isolation level. Only when no row was changed a query tells a stale token from a missing row.
 *
 * <p>The column is a {@code BIGINT}, best {@code NOT NULL DEFAULT 0}; whoever inserts the row
 * writes the token into it. Deleting the row deletes the memory of the fence: a stale holder could
 * insert it again. Mark it as deleted, or use {@link JdbcFence}, if that can happen. A read by a
 * new holder raises the fence by {@link #touch}.
 *
 * <p>Immutable and thread-safe; it holds no connection.
 */
public final class RowFence {
  private static final int ATTEMPTS = 3;

  private final String table;
  private final String fenceColumn;
  private final List<String> keyColumns;
  private final boolean strict;

  private RowFence(String table, String fenceColumn, List<String> keyColumns, boolean strict) {
    this.table = table;
    this.fenceColumn = fenceColumn;
    this.keyColumns = keyColumns;
    this.strict = strict;
  }

  /**
   * A fence on a table's rows.
   *
   * @param table {@code name} or {@code schema.name}; letters, digits and _
   * @param fenceColumn the column of the highest token
   * @param keyColumns the columns of the primary key
   */
  public static RowFence on(String table, String fenceColumn, String... keyColumns) {
    if (keyColumns.length == 0) {
      throw new IllegalArgumentException("keyColumns is empty; it must name the primary key");
    }
    for (String column : keyColumns) {
      SqlNames.column("keyColumns", column);
    }
    return new RowFence(
        SqlNames.table("table", table),
        SqlNames.column("fenceColumn", fenceColumn),
        List.of(keyColumns),
        false);
  }

  /** The same, accepting each token for one write only. Reads then have to do without a touch. */
  public RowFence strict() {
    return new RowFence(table, fenceColumn, keyColumns, true);
  }

  /**
   * Updates one row under the fence.
   *
   * @param key the values of the key columns
   * @param assignments what to set, such as {@code "balance = balance + ?"}; the fence column is
   *     added. SQL text: never build it from input
   * @param arguments the values of its parameters
   * @return true if the row was written, false if there is no such row
   * @throws StaleTokenException if the row refuses the token; nothing was written
   */
  public boolean update(
      Connection connection,
      Lease lease,
      List<?> key,
      String assignments,
      @Nullable Object... arguments)
      throws SQLException {
    return update(connection, lease.fencingToken(), key, assignments, arguments);
  }

  /** {@link #update(Connection, Lease, List, String, Object...)} with a token. */
  public boolean update(
      Connection connection,
      long token,
      List<?> key,
      String assignments,
      @Nullable Object... arguments)
      throws SQLException {
    if (assignments.isBlank()) {
      throw new IllegalArgumentException("assignments is blank; to write nothing, use touch");
    }
    return write(connection, token, key, assignments + ", ", arguments);
  }

  /**
   * Raises the row's fence for a read by its new holder: run it before the query.
   *
   * @return false if there is no such row
   * @throws StaleTokenException if the row has seen a higher token
   * @throws IllegalStateException on a strict fence, whose one column cannot tell a read's token
   *     from a write's
   */
  public boolean touch(Connection connection, long token, List<?> key) throws SQLException {
    if (strict) {
      throw new IllegalStateException(
          "a strict row fence cannot remember a read without using up the token; use JdbcFence");
    }
    return write(connection, token, key, "");
  }

  /** {@link #touch(Connection, long, List)} with the token of a lease. */
  public boolean touch(Connection connection, Lease lease, List<?> key) throws SQLException {
    return touch(connection, lease.fencingToken(), key);
  }

  /** {@code fence = ?} for a statement of the caller's own; the parameter is the token. */
  public String assignment() {
    return fenceColumn + " = ?";
  }

  /** {@code (fence <= ? OR fence IS NULL)} for such a statement; the parameter is the token. */
  public String predicate() {
    return "(" + fenceColumn + (strict ? " < ?" : " <= ?") + " OR " + fenceColumn + " IS NULL)";
  }

  /**
   * Judges the count of a statement of the caller's own that has the {@link #predicate}. No I/O if
   * a row was changed.
   *
   * @param count what {@code executeUpdate} returned
   * @return true if the row was written, false if there is no such row
   * @throws StaleTokenException if the row refuses the token
   * @throws LockException if the row would take the token now, yet was not written: it appeared
   *     just after the statement, another condition of the statement failed, or the driver counts
   *     only changed rows; run the statement again
   */
  public boolean written(Connection connection, int count, long token, List<?> key)
      throws SQLException {
    checkArguments(token, key);
    if (count > 0) {
      return true;
    }
    return switch (judge(connection, token, key)) {
      case MISSING -> false;
      case WOULD_PASS, HAS_TOKEN ->
          throw new LockException(
              "no row was written to " + shown(key) + " although its fence accepts " + token);
    };
  }

  private boolean write(
      Connection connection,
      long token,
      List<?> key,
      String assignments,
      @Nullable Object... arguments)
      throws SQLException {
    checkArguments(token, key);
    String sql =
        "UPDATE " + table + " SET " + assignments + assignment() + where() + " AND " + predicate();
    for (int attempt = 1; ; attempt++) {
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        int index = bind(statement, 0, arguments);
        statement.setLong(++index, token);
        index = bind(statement, index, key.toArray());
        statement.setLong(++index, token);
        if (statement.executeUpdate() > 0) {
          return true;
        }
      }
      switch (judge(connection, token, key)) {
        case MISSING -> {
          return false;
        }
        case HAS_TOKEN -> {
          // The same values under the same token, and a MySQL driver set to count changes only.
          if (attempt == ATTEMPTS) {
            return true;
          }
        }
        case WOULD_PASS -> {
          if (attempt == ATTEMPTS) {
            throw new LockException(
                shown(key) + " came and went while it was written, " + ATTEMPTS + " times");
          }
        }
      }
    }
  }

  private enum Judgement {
    MISSING,
    HAS_TOKEN,
    WOULD_PASS
  }

  private Judgement judge(Connection connection, long token, List<?> key) throws SQLException {
    String sql =
        "SELECT "
            + fenceColumn
            + " FROM "
            + table
            + where()
            + Dialects.currentRead(Dialect.of(connection));
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      bind(statement, 0, key.toArray());
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          return Judgement.MISSING;
        }
        long highest = row.getLong(1);
        if (highest > token || (strict && highest == token)) {
          throw new StaleTokenException(shown(key), token, highest);
        }
        return highest == token ? Judgement.HAS_TOKEN : Judgement.WOULD_PASS;
      }
    }
  }

  private void checkArguments(long token, List<?> key) {
    FenceArguments.token(token);
    if (key.size() != keyColumns.size()) {
      throw new IllegalArgumentException(
          "key has " + key.size() + " values; it must have one for each of " + keyColumns);
    }
  }

  private String where() {
    return " WHERE " + String.join(" = ? AND ", keyColumns) + " = ?";
  }

  private String shown(List<?> key) {
    return table + key;
  }

  private static int bind(PreparedStatement statement, int index, @Nullable Object[] values)
      throws SQLException {
    int last = index;
    for (Object value : values) {
      statement.setObject(++last, value);
    }
    return last;
  }
}
