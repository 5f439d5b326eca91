package dev.lukko.postgres;

import dev.lukko.Holder;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the server tells about a holder.
 *
 * @param pid the server process of the holding session
 * @param application its application name, or null
 * @param address the address it comes from, or null
 * @param namespace the namespace of the held name; null while the holder has not published it
 * @param name the held name; null while the holder has not published it
 * @param description the holder's own description; null while it has not published it
 * @param since when it was granted; null while the holder has not published it
 */
record HolderRow(
    int pid,
    @Nullable String application,
    @Nullable String address,
    @Nullable String namespace,
    @Nullable String name,
    @Nullable String description,
    @Nullable Timestamp since) {

  static HolderRow read(ResultSet row) throws SQLException {
    return new HolderRow(
        row.getInt(1),
        row.getString(2),
        row.getString(3),
        row.getString(4),
        row.getString(5),
        row.getString(6),
        row.getTimestamp(7));
  }

  Holder toHolder() {
    String session =
        "server process "
            + pid
            + (application == null || application.isEmpty() ? "" : " '" + application + "'")
            + (address == null ? "" : " from " + address);
    return new Holder(
        description == null ? session : description + ", " + session,
        Optional.ofNullable(since).map(Timestamp::toInstant),
        Optional.empty());
  }

  /** Whether the held name is known to be another one than the key's. */
  boolean collidesWith(LockKey key) {
    return name != null && !(name.equals(key.name()) && key.namespace().equals(namespace));
  }
}
