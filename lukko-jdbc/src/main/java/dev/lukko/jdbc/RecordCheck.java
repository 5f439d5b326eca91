package dev.lukko.jdbc;

/**
 * What of its fleet's record a request compares with what its client has seen, in the statement
 * that writes.
 *
 * <p>A write must not rest on a record that another transaction had replaced before the write
 * became visible: else an epoch that everybody has left could grant once more. A statement reads
 * what was committed when it began, and may then wait for its row. So the record must not be
 * replaced between the moment at which the statement reads it and its commit. What sees to that
 * differs:
 *
 * <ul>
 *   <li>PostgreSQL: a replacement {@linkplain DialectTraits#lockRecords locks} the table of locks
 *       against writers. A statement gets its own lock on that table before its snapshot, so it
 *       either sees the new record, or is over before it is written. Nothing is added to a grant: a
 *       share lock on the record's row would have each grant write that row's page, and grants at
 *       one time share a list of lockers there. At the other levels of isolation the snapshot comes
 *       first; behind a pooler whose database has one of them the record is read with a share lock.
 *   <li>MySQL, MariaDB: the record is read with a share lock, which lasts until the commit and
 *       waits for a replacement. InnoDB keeps such locks in memory.
 *   <li>H2: the record's row is locked as for an update, which it has no weaker form of. Grants of
 *       one fleet take their turns by that, each for as long as its statement lasts.
 *   <li>SQLite: a statement that writes has the file's only write lock before it reads.
 * </ul>
 */
enum RecordCheck {
  /** Nothing: the request may be run at whatever record. */
  NONE(""),
  /** It is the record that was seen; a grant of earlier may be prolonged in a quarantine, too. */
  SAME(""),
  /** The same, made for the present run, and its time to vote has come. */
  VOTING(" AND lukko_fleet.run = :run AND lukko_fleet.votes_from <= {now}");

  private static final String FOUND =
      "EXISTS (SELECT 1 FROM lukko_fleet WHERE lukko_fleet.name = :fleet"
          + " AND lukko_fleet.seen = :seen";

  private final String more;

  RecordCheck(String more) {
    this.more = more;
  }

  /** The check as a request can make it: a request that has seen nothing compares nothing. */
  RecordCheck of(NamedSql.Values values) {
    return values.seen().isEmpty() ? NONE : this;
  }

  /**
   * A statement with its condition in place of {@code {if}}, its finding in that of {@code {ok}}.
   */
  String in(String text) {
    String condition = this == NONE ? "" : " AND " + FOUND + more + "{share})";
    String finding = this == NONE ? "1" : "CASE WHEN " + FOUND + more + ") THEN 1 ELSE 0 END";
    return text.replace("{if}", condition).replace("{ok}", finding);
  }
}
