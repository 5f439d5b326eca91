package dev.lukko.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Deletes old rows in short transactions, so that no lock is held for long.
 *
 * @param table the table
 * @param key its primary key, a name column
 * @param time the column that is compared with the database's clock, in milliseconds since 1970
 * @param batch how many rows one transaction deletes at most
 */
record BatchedPurge(String table, String key, String time, int batch) {

  /** Deletes the rows whose time is more than {@code ageMillis} ago, and says how many. */
  int run(DataSource database, long ageMillis) throws SQLException {
    Integer all =
        OwnTransactions.run(
            database,
            "the deletion of old rows",
            "",
            (connection, dialect) -> {
              int deleted = 0;
              List<String> keys;
              do {
                keys = find(connection, dialect, ageMillis);
                deleted += delete(connection, dialect, keys, ageMillis);
              } while (keys.size() == batch);
              return deleted;
            });
    return Objects.requireNonNull(all);
  }

  private List<String> find(Connection connection, Dialect dialect, long ageMillis)
      throws SQLException {
    List<String> keys = new ArrayList<>();
    String sql = "SELECT " + key + " FROM " + table + " WHERE " + old(dialect) + " LIMIT " + batch;
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, ageMillis);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          keys.add(Dialects.readName(dialect, row, 1));
        }
      }
    }
    return keys;
  }

  private int delete(Connection connection, Dialect dialect, List<String> keys, long ageMillis)
      throws SQLException {
    if (keys.isEmpty()) {
      return 0;
    }
    // The age is asked again: a row may have been used since it was found.
    String sql =
        "DELETE FROM "
            + table
            + " WHERE "
            + old(dialect)
            + " AND "
            + key
            + " IN ("
            + String.join(", ", java.util.Collections.nCopies(keys.size(), "?"))
            + ")";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, ageMillis);
      int index = 1;
      for (String name : keys) {
        Dialects.bindName(dialect, statement, ++index, name);
      }
      return statement.executeUpdate();
    }
  }

  private String old(Dialect dialect) {
    return time + " < " + Dialects.nowMillis(dialect) + " - ?";
  }
}
