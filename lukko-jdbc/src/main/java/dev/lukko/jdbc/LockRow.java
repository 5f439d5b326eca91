package dev.lukko.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A resource's row as it was read; the clock is the database's.
 *
 * @param name the resource
 * @param owner the exclusive owner, who may have expired, or null
 * @param livesMicros how long the exclusive entry lives on, in microseconds; not positive if it has
 *     expired; means nothing without an owner
 * @param sharedLivesMicros how long the last of the shared entries lives on, in microseconds; not
 *     positive if there is none
 * @param counter the counter; negative or too large if it is garbage
 * @param grantCounter what the exclusive owner was granted with; or the {@linkplain #readersMark
 *     mark} that goes with the counter if its number was last given to a reader
 * @param ttlMicros how much time the exclusive owner was given; zero if that is not known
 * @param asSeen whether the fleet's record is as the request needs it, see {@link RecordCheck}
 */
record LockRow(
    String name,
    @Nullable String owner,
    long livesMicros,
    long sharedLivesMicros,
    long counter,
    long grantCounter,
    long ttlMicros,
    boolean asSeen) {

  /** Reads the columns of {@link Statements#ROW}, the name apart. */
  static LockRow read(DialectTraits traits, ResultSet rows, String name) throws SQLException {
    return new LockRow(
        name,
        traits.getText(rows, 1),
        rows.getLong(2),
        rows.getLong(3),
        rows.getLong(4),
        rows.getLong(5),
        rows.getLong(7),
        rows.getInt(8) != 0);
  }

  /** Whether the entry claims more time than it was given: the database's clock went back. */
  boolean isOverlong() {
    return owner != null && ttlMicros > 0 && livesMicros > ttlMicros;
  }

  /**
   * What stands in place of an exclusive owner's number if readers may have the counter's. It names
   * the counter, so that whatever changes the counter alone also takes the mark away.
   */
  static long readersMark(long counter) {
    return -counter;
  }

  /** Whether the counter's number was last given to a reader. */
  boolean isGivenToReader() {
    return counter > 0 && grantCounter == readersMark(counter);
  }

  boolean isHeld() {
    return owner != null && livesMicros > 0;
  }

  boolean isHeldBy(String candidate) {
    return candidate.equals(owner) && livesMicros > 0;
  }
}
