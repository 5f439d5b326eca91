package dev.lukko.jdbc;

import java.util.Collections;

/**
 * The statements of the fence table, by database.
 *
 * <p>A row has the highest token seen ({@code token}) and the highest one that wrote ({@code
 * written}), so that a strict fence can tell a read from a write. Each statement takes name, token
 * and written token of every resource, in this order. Nothing but these numbers decides: no clock,
 * no random number.
 *
 * <p>MySQL cannot make the update half of its upsert conditional, and its count of rows says the
 * same of an insert as of an update that changes nothing. So an accepted update always changes the
 * row, by a column that goes back and forth ({@code contact}), and counts as two; for every other
 * count the rows are read again, and their tokens alone decide. That would not do for a strict
 * fence, whose second use of a token leaves what the first has left; there missing rows are created
 * first, and a plain update, whose condition decides and whose count is exact, follows.
 */
final class FenceSql {

  /** What comes in contact with the resource. */
  enum Contact {
    READ,
    WRITE,
    WRITE_ONCE
  }

  private FenceSql() {}

  static String createTable(Dialect dialect, String table) {
    return "CREATE TABLE IF NOT EXISTS "
        + table
        + " (\n  resource "
        + Dialects.nameColumn(dialect)
        + " NOT NULL PRIMARY KEY,\n"
        + "  token BIGINT NOT NULL,\n"
        + "  written BIGINT NOT NULL,\n"
        + (dialect == Dialect.MYSQL ? "  contact BIGINT NOT NULL,\n" : "")
        + "  touched_at BIGINT NOT NULL\n)"
        + (dialect == Dialect.MYSQL ? " ENGINE = InnoDB" : "");
  }

  static String raise(Dialect dialect, String table, Contact contact, int rows) {
    return switch (dialect) {
      case POSTGRES, SQLITE -> upsert(dialect, table, contact, rows);
      case MYSQL -> upsertMySql(table, contact, rows);
      case H2 -> merge(table, contact, rows);
    };
  }

  /** Takes token, token again for a write, the names, token, and token again for a strict write. */
  static String update(Dialect dialect, String table, Contact contact, int rows) {
    return "UPDATE "
        + table
        + " SET token = ?, "
        + (contact == Contact.READ ? "" : "written = ?, ")
        + "touched_at = "
        + Dialects.nowMillis(dialect)
        + " WHERE resource IN ("
        + repeat("?", rows, ", ")
        + ") AND token <= ?"
        + (contact == Contact.WRITE_ONCE ? " AND written < ?" : "");
  }

  static String read(Dialect dialect, String table, int rows) {
    return "SELECT resource, token, written FROM "
        + table
        + " WHERE resource IN ("
        + repeat("?", rows, ", ")
        + ") ORDER BY resource"
        + Dialects.currentRead(dialect);
  }

  private static String upsert(Dialect dialect, String table, Contact contact, int rows) {
    String now = Dialects.nowMillis(dialect);
    return "INSERT INTO "
        + table
        + " AS f (resource, token, written, touched_at) VALUES "
        + repeat("(?, ?, ?, " + now + ")", rows, ", ")
        + " ON CONFLICT (resource) DO UPDATE SET token = excluded.token, "
        + (contact == Contact.READ ? "" : "written = excluded.written, ")
        + "touched_at = excluded.touched_at WHERE f.token <= excluded.token"
        + (contact == Contact.WRITE_ONCE ? " AND f.written < excluded.token" : "");
  }

  /** Each expression is right whether or not it sees what those before it have assigned. */
  private static String upsertMySql(String table, Contact contact, int rows) {
    String accepted = "token <= VALUES(token)";
    return insertMySql(table, rows)
        + " contact = IF("
        + accepted
        + ", IF(contact = 0, 1, 0), contact), touched_at = IF("
        + accepted
        + ", VALUES(touched_at), touched_at), "
        + (contact == Contact.READ
            ? ""
            : "written = IF(" + accepted + ", VALUES(written), written), ")
        + "token = GREATEST(token, VALUES(token))";
  }

  /** Creates and locks rows on MySQL; takes names and zeros as {@link #raise}. */
  static String lockMySql(String table, int rows) {
    return insertMySql(table, rows) + " touched_at = touched_at";
  }

  private static String insertMySql(String table, int rows) {
    return "INSERT INTO "
        + table
        + " (resource, token, written, contact, touched_at) VALUES "
        + repeat("(?, ?, ?, 0, " + Dialects.nowMillis(Dialect.MYSQL) + ")", rows, ", ")
        + " ON DUPLICATE KEY UPDATE";
  }

  private static String merge(String table, Contact contact, int rows) {
    String now = Dialects.nowMillis(Dialect.H2);
    return "MERGE INTO "
        + table
        + " f USING ("
        + repeat(
            "SELECT CAST(? AS VARBINARY) AS resource, CAST(? AS BIGINT) AS token,"
                + " CAST(? AS BIGINT) AS written",
            rows,
            " UNION ALL ")
        + ") s ON f.resource = s.resource WHEN MATCHED AND f.token <= s.token"
        + (contact == Contact.WRITE_ONCE ? " AND f.written < s.token" : "")
        + " THEN UPDATE SET token = s.token, "
        + (contact == Contact.READ ? "" : "written = s.written, ")
        + "touched_at = "
        + now
        + " WHEN NOT MATCHED THEN INSERT (resource, token, written, touched_at)"
        + " VALUES (s.resource, s.token, s.written, "
        + now
        + ")";
  }

  private static String repeat(String part, int times, String between) {
    return String.join(between, Collections.nCopies(times, part));
  }
}
