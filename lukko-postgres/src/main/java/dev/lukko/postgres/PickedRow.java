package dev.lukko.postgres;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A row as a search gives it.
 *
 * @param row what the worker gets
 * @param rank its place in the order of service
 * @param lastXid the transaction that had locked it before, 0 if none ever did
 * @param ours whether its ordering key is ours too; if not, another works on a row of the key
 */
record PickedRow(QueueRow row, Timestamp rank, long lastXid, boolean ours) {
  static final Comparator<PickedRow> SERVICE =
      Comparator.comparing(PickedRow::rank).thenComparing(picked -> picked.row().id());

  static PickedRow read(ResultSet result) throws SQLException {
    return new PickedRow(
        new QueueRow(
            result.getLong(1),
            String.valueOf(result.getString(2)),
            result.getInt(3),
            result.getInt(4),
            Optional.ofNullable(result.getString(5))),
        result.getTimestamp(6),
        result.getLong(7),
        result.getBoolean(8));
  }

  static List<QueueRow> rows(List<PickedRow> picked) {
    return picked.stream().map(PickedRow::row).toList();
  }

  static Long[] ids(List<QueueRow> rows) {
    return rows.stream().map(QueueRow::id).toArray(Long[]::new);
  }
}
