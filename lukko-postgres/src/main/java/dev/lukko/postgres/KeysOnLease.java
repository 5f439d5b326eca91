package dev.lukko.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Keeps the rows of one ordering key apart: those that are claimed and those on lease.
 *
 * <p>A row can become visible in front of a later one that is on lease already. Whoever takes a row
 * has locked its key by then, so that no other does; this looks for leases in a statement after
 * that, which sees all that was taken before.
 *
 * @param sql the statements
 */
record KeysOnLease(QueueSql sql) {

  /** Leaves out the rows whose keys are on lease. */
  List<PickedRow> without(Connection connection, List<PickedRow> picked) throws SQLException {
    String[] keys = keys(picked);
    if (keys.length == 0 || !sql.hasLeases()) {
      return picked;
    }
    Set<String> leased = new HashSet<>();
    try (PreparedStatement statement = connection.prepareStatement(sql.keysOnLease)) {
      statement.setArray(1, connection.createArrayOf("text", keys));
      statement.setArray(2, connection.createArrayOf("text", keys));
      try (ResultSet result = QueueCalls.rows(statement)) {
        while (result.next()) {
          leased.add(result.getString(1));
        }
      }
    }
    return picked.stream()
        .filter(row -> row.row().orderingKey().filter(leased::contains).isEmpty())
        .toList();
  }

  /** Ends leases of these keys that have run out, so that they cannot be renewed. */
  void revokeOverdue(Connection connection, List<PickedRow> picked) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.revoke)) {
      statement.setArray(1, connection.createArrayOf("text", keys(picked)));
      statement.executeUpdate();
    }
  }

  private static String[] keys(List<PickedRow> picked) {
    return picked.stream().flatMap(row -> row.row().orderingKey().stream()).toArray(String[]::new);
  }
}
