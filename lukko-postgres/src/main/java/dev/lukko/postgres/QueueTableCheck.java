package dev.lukko.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Looks whether a queue's table is what the queue takes it for, and names the statements that mend
 * it. A wrong column is no error of the server: a time without a zone means another instant in each
 * worker's zone, and a row whose priority is null is never found.
 */
final class QueueTableCheck {
  private static final Set<String> INTEGERS = Set.of("bigint", "integer", "smallint");

  /** Without {@code character}: its blanks are compared in some places and not in others. */
  private static final Set<String> TEXTS = Set.of("text", "character varying");

  private static final Set<String> INSTANTS = Set.of("timestamp with time zone");
  private static final String COLUMNS =
      """
      SELECT a.attname,
             format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, NULL),
             format_type(a.atttypid, a.atttypmod), a.attnotnull,
             pg_get_expr(d.adbin, d.adrelid),
             c.relkind = 'p' OR EXISTS (
               SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique
                 AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum)
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
      WHERE c.oid = to_regclass(?) AND c.relkind IN ('r', 'p')
      """;

  private final QueueTable table;
  private final Map<String, Column> columns = new HashMap<>();
  private final List<String> faults = new ArrayList<>();

  private QueueTableCheck(QueueTable table) {
    this.table = table;
  }

  private record Column(
      String base, String type, boolean notNull, @Nullable String defaultValue, boolean unique) {}

  /**
   * Refuses a table that the queue would misunderstand.
   *
   * @throws UnsuitableDatabaseException with every fault and the statements that mend them
   */
  static void check(Connection connection, QueueTable table) throws SQLException {
    QueueTableCheck check = new QueueTableCheck(table);
    check.read(connection);
    if (check.columns.isEmpty()) {
      throw new UnsuitableDatabaseException(
          "table " + table + " is missing, or is no table; the queue has nothing to work on");
    }
    check.judge();
    if (!check.faults.isEmpty()) {
      throw new UnsuitableDatabaseException(
          "table " + table + " cannot be a queue as it is: " + String.join("; ", check.faults));
    }
  }

  private void read(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(COLUMNS)) {
      statement.setString(1, table.table);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          columns.put(
              row.getString(1),
              new Column(
                  row.getString(2),
                  row.getString(3),
                  row.getBoolean(4),
                  row.getString(5),
                  row.getBoolean(6)));
        }
      }
    }
  }

  private void judge() {
    Column id = filled(table.id, Set.of("bigint", "integer"), "bigint", null);
    if (id != null && !id.unique()) {
      fault(
          table.id + " may have one value twice",
          "ALTER TABLE " + table + " ADD UNIQUE (" + table.id + ")");
    }
    filled(table.readyAt, INSTANTS, "timestamptz", "now()");
    filled(table.attempts, INTEGERS, "integer", "0");
    empty(table.deadAt, INSTANTS, "timestamptz");
    if (table.doneAt != null) {
      empty(table.doneAt, INSTANTS, "timestamptz");
    }
    if (table.priority != null) {
      filled(table.priority, INTEGERS, "integer", "0");
    }
    if (table.rank != null) {
      filled(table.rank, INSTANTS, "timestamptz", table.readyAt);
    }
    if (table.queue != null) {
      typed(table.queue, TEXTS, "text");
    }
    if (table.orderingKey != null) {
      typed(table.orderingKey, TEXTS, "text");
    }
    if (table.leaseToken != null) {
      empty(table.leaseToken, Set.of("bigint"), "bigint");
    }
    if (table.payload != null) {
      present(table.payload, "text");
    }
    errors();
  }

  private void errors() {
    String column = table.lastError;
    Column found = column == null ? null : typed(column, TEXTS, "text");
    if (found != null && found.type().contains("(")) {
      fault(
          column + " is " + found.type() + ", which does not hold every error",
          "ALTER TABLE " + table + " ALTER COLUMN " + column + " TYPE text");
    }
  }

  private @Nullable Column present(String column, String type) {
    Column found = columns.get(column);
    if (found == null) {
      fault(
          "it has no column " + column,
          "ALTER TABLE " + table + " ADD COLUMN " + column + " " + type);
    }
    return found;
  }

  private @Nullable Column typed(String column, Set<String> types, String wanted) {
    Column found = present(column, wanted);
    if (found != null && !types.contains(found.base())) {
      boolean zoneless = found.base().equals("timestamp without time zone");
      fault(
          column + " is " + found.type() + " and must be " + wanted,
          "ALTER TABLE "
              + table
              + " ALTER COLUMN "
              + column
              + " TYPE "
              + wanted
              + " USING "
              + (zoneless ? column + " AT TIME ZONE 'UTC'" : column + "::text::" + wanted)
              + (zoneless ? ", with the zone in which it was written" : ""));
    }
    return found;
  }

  /** A column that must have a value in each row. */
  private @Nullable Column filled(
      String column, Set<String> types, String wanted, @Nullable String value) {
    Column found = typed(column, types, wanted);
    if (found != null && !found.notNull()) {
      fault(
          column + " may be null, and such a row would never be handed out",
          (value == null
                  ? ""
                  : "UPDATE "
                      + table
                      + " SET "
                      + column
                      + " = "
                      + value
                      + " WHERE "
                      + column
                      + " IS NULL; ")
              + "ALTER TABLE "
              + table
              + " ALTER COLUMN "
              + column
              + " SET NOT NULL");
    }
    return found;
  }

  /** A column that must be null in a new row. */
  private void empty(String column, Set<String> types, String wanted) {
    Column found = typed(column, types, wanted);
    if (found != null && found.notNull()) {
      fault(
          column + " must not be null, but is null in a row that waits",
          "ALTER TABLE " + table + " ALTER COLUMN " + column + " DROP NOT NULL");
    }
    if (found != null
        && found.defaultValue() != null
        && !found.defaultValue().toUpperCase(Locale.ROOT).startsWith("NULL")) {
      fault(
          column + " has the default " + found.defaultValue() + ", and must be null in a new row",
          "ALTER TABLE " + table + " ALTER COLUMN " + column + " DROP DEFAULT");
    }
  }

  private void fault(String what, String mend) {
    faults.add(what + " (" + mend + ")");
  }
}
