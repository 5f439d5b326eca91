package dev.lukko.jdbc;

import dev.lukko.spi.GrantRequest;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * The lock's SQL, written once for all dialects.
 *
 * <p>An exclusive entry is the row's own owner: there is none if it is null or the row's time is
 * over. Readers' entries are rows of their own; the resource's row knows when the last of them
 * ends, so that one conditional write on that one row decides about an exclusive grant. MySQL
 * evaluates assignments from left to right, each with the results of those before it; so a column
 * is assigned after all expressions that mean its old value.
 *
 * <p>An exclusive grant sets the counter and the number of the grant alike. After a reader's grant
 * the latter is a {@linkplain LockRow#readersMark mark} that no other write leaves behind.
 */
final class Statements {
  private static final long MAX = GrantRequest.MAX_COUNTER;
  private static final Pattern NUMBER = Pattern.compile("\\{number ([a-z_.]+)\\}");

  private static final String MINE = "lukko_lock.owner = :owner AND lukko_lock.expires_at > {now}";
  private static final String FREE =
      "(lukko_lock.owner IS NULL OR lukko_lock.expires_at <= {now})"
          + " AND lukko_lock.shared_until <= {now}";
  private static final String COUNTER_IS_NUMBER = "{number lukko_lock.counter}";
  private static final String RAISABLE =
      COUNTER_IS_NUMBER + " AND lukko_lock.counter >= 0 AND lukko_lock.counter < " + MAX;
  private static final String SOUND =
      COUNTER_IS_NUMBER + " AND lukko_lock.counter >= 0 AND lukko_lock.counter <= " + MAX;
  private static final String REPAIRABLE = "((" + MINE + ") OR (" + FREE + ")) AND " + SOUND;
  private static final String RAISED =
      """
      grant_counter = {greatest}(:counter, lukko_lock.counter + 1),
        counter = {greatest}(:counter, lukko_lock.counter + 1),
        expires_at = {now} + :ttl,
        ttl = :ttl,
        owner = :owner""";
  private static final String REPAIRED =
      """
      grant_counter = CASE WHEN lukko_lock.owner = :owner AND lukko_lock.expires_at > {now}
          THEN lukko_lock.grant_counter ELSE {greatest}(lukko_lock.counter, :counter) END,
        counter = {greatest}(lukko_lock.counter, :counter),
        expires_at = {now} + :ttl,
        ttl = :ttl,
        owner = :owner""";
  private static final String EXTENDED = "expires_at = {now} + :ttl, ttl = :ttl";

  // Whatever stands in a row, its difference from the clock is a number.
  private static final String LEFT = "CASE WHEN expires_at > 0 THEN expires_at - {now} ELSE 0 END";
  private static final String SHARED_LEFT =
      "CASE WHEN shared_until > 0 THEN shared_until - {now} ELSE 0 END";

  // As long as the clock goes forward, no entry has more time left than it was given.
  private static final String OVERLONG = "ttl > 0 AND " + LEFT + " > ttl";

  /** The counter; negative if it, or another number by which a request is decided, is none. */
  private static final String COUNTER =
      "CASE WHEN {number counter} AND {number grant_counter} AND {number expires_at}"
          + " AND {number shared_until} THEN counter ELSE -1 END";

  /** The columns of a {@link LockRow}. */
  static final String ROW =
      "owner, " + LEFT + ", " + SHARED_LEFT + ", " + COUNTER + ", grant_counter, name, ttl, {ok}";

  static final String GRANT =
      "UPDATE lukko_lock SET "
          + RAISED
          + " WHERE name = :name AND "
          + FREE
          + " AND "
          + RAISABLE
          + "{if}";
  static final String CONFIRM =
      "UPDATE lukko_lock SET counter = :counter WHERE name = :name AND "
          + MINE
          + " AND lukko_lock.counter >= 0 AND lukko_lock.counter < :counter{if}";
  static final String EXTEND =
      "UPDATE lukko_lock SET " + EXTENDED + " WHERE name = :name AND " + MINE + "{if}";
  static final String REPAIR =
      "UPDATE lukko_lock SET "
          + REPAIRED
          + " WHERE name = :name AND "
          + REPAIRABLE
          + " AND {now} < :before{if}";
  static final String RELEASE = "UPDATE lukko_lock SET owner = NULL WHERE name = :name AND " + MINE;
  static final String INSERT =
      "INSERT INTO lukko_lock (name, owner, expires_at, ttl, counter, grant_counter)"
          + " SELECT :name, :owner, {now} + :ttl, :ttl, :counter, :counter"
          + " FROM lukko_schema WHERE component = 'lock'{if}";
  static final String INSERT_FREE =
      "INSERT INTO lukko_lock (name, owner, expires_at, counter, grant_counter)"
          + " VALUES (:name, NULL, {now}, 0, 0)";
  static final String NOW = "SELECT {now}";
  static final String READ = "SELECT " + ROW + " FROM lukko_lock WHERE name = :name";

  // On PostgreSQL a write can tell its result, and announce it in the same breath.
  static final String GRANT_RETURNING = GRANT + " RETURNING counter";
  static final String RELEASE_AND_NOTIFY =
      RELEASE + " RETURNING CAST(pg_notify('" + PostgresHints.CHANNEL + "', name) AS text)";

  // Several resources, or readers: rows are locked first, in sorted order, then written at once.
  static final String LOCK_ROWS =
      "SELECT " + ROW + " FROM lukko_lock{primary} WHERE name IN (:names) ORDER BY name{update}";
  static final String GRANT_ROWS =
      "UPDATE lukko_lock SET grant_counter = :counter, counter = :counter,"
          + " expires_at = {now} + :ttl, ttl = :ttl, owner = :owner WHERE name IN (:names){if}";
  static final String CONFIRM_ROWS =
      "UPDATE lukko_lock SET counter = :counter WHERE name IN (:names){if}";
  static final String EXTEND_ROWS =
      "UPDATE lukko_lock SET " + EXTENDED + " WHERE name IN (:names){if}";
  static final String REPAIR_ROWS =
      "UPDATE lukko_lock SET " + REPAIRED + " WHERE name IN (:names){if}";
  static final String RELEASE_ROWS =
      "UPDATE lukko_lock SET owner = NULL WHERE owner = :owner AND name IN (:names)";
  static final String NOTIFY =
      "SELECT CAST(pg_notify('" + PostgresHints.CHANNEL + "', :name) AS text)";

  /**
   * When a reader's entry ends. If that is no number, then when all of the resource's are over: it
   * may be that of somebody who holds.
   */
  private static final String READER_ENDS =
      "CASE WHEN {number lukko_shared.expires_at} THEN lukko_shared.expires_at ELSE"
          + " COALESCE((SELECT l.shared_until FROM lukko_lock l WHERE l.name = lukko_shared.name), 0)"
          + " END";

  /** Where the resource's row is written: no reader has more time left than it was given. */
  private static final String READER_ENDS_AT_THE_LATEST =
      "CASE WHEN {number s.expires_at} THEN s.expires_at"
          + " ELSE {now} + CASE WHEN s.ttl > 0 THEN s.ttl ELSE 0 END END";

  static final String SHARED_READ =
      "SELECT owner, "
          + READER_ENDS
          + " - {now}, grant_counter, name, ttl,"
          + " CASE WHEN {number expires_at} AND {number grant_counter} THEN 1 ELSE 0 END"
          + " FROM lukko_shared WHERE name IN (:names) AND "
          + READER_ENDS
          + " > {now} ORDER BY name, 2 DESC";
  static final String SHARED_DELETE =
      "DELETE FROM lukko_shared WHERE name IN (:names) AND (owner = :owner OR "
          + READER_ENDS
          + " <= {now})";
  static final String SHARED_INSERT =
      "INSERT INTO lukko_shared (name, owner, expires_at, ttl, grant_counter)"
          + " VALUES (:name, :owner, {now} + :ttl, :ttl, :counter)";
  static final String SHARED_EXTEND =
      "UPDATE lukko_shared SET " + EXTENDED + " WHERE name IN (:names) AND owner = :owner";
  static final String SHARED_UNTIL =
      "UPDATE lukko_lock SET expires_at = {greatest}(expires_at, {now}),"
          + " shared_until = COALESCE((SELECT MAX("
          + READER_ENDS_AT_THE_LATEST
          + ") FROM lukko_shared s WHERE s.name = lukko_lock.name), 0) WHERE name IN (:names){if}";

  /**
   * Raises counters and marks them as given to a reader. A reader is granted only where no
   * exclusive owner lives, so what stands there of one is over.
   */
  static final String COUNTERS_TO_READERS =
      "UPDATE lukko_lock SET owner = NULL, grant_counter = :mark, counter = :counter"
          + " WHERE name IN (:names) AND counter < :counter{if}";

  static final String SHORTEN =
      "UPDATE lukko_lock SET expires_at = {now} + ttl WHERE name IN (:names) AND " + OVERLONG;
  static final String SHORTEN_SHARED =
      "UPDATE lukko_shared SET expires_at = {now} + ttl WHERE name IN (:names) AND " + OVERLONG;

  /** How many entries claim more time than they were given, of the first rows of the table. */
  static final String COUNT_OVERLONG =
      "SELECT COUNT(*) FROM (SELECT owner, expires_at, ttl FROM lukko_lock LIMIT 10000) looked_at"
          + " WHERE owner IS NOT NULL AND "
          + OVERLONG;

  static final String COUNT_OVERLONG_SHARED =
      "SELECT COUNT(*) FROM (SELECT expires_at, ttl FROM lukko_shared LIMIT 10000) looked_at WHERE "
          + OVERLONG;

  static final String COUNTERS_TO_AT_LEAST =
      "UPDATE lukko_lock SET counter = {greatest}(counter, :counter) WHERE name IN (:names)";

  // The records of fleets, see FleetTable.
  static final String IDENTITY =
      "SELECT identity, {now} FROM lukko_schema WHERE component = 'lock'";
  static final String RECORDS = "SELECT name, record, seen, run, votes_from FROM lukko_fleet";
  static final String RECORDS_LOCKED = RECORDS + "{update}";
  static final String RECORD_UPDATE =
      "UPDATE lukko_fleet SET record = ?, seen = ?, run = ?, votes_from = ? WHERE name = ?";
  static final String RECORD_INSERT =
      "INSERT INTO lukko_fleet (record, seen, run, votes_from, name) VALUES (?, ?, ?, ?, ?)";
  static final String RECORD_DELETE = "DELETE FROM lukko_fleet WHERE name = ?";

  private final DialectTraits traits;
  private final String shareOfRecord;
  private final Map<RecordCheck, Map<String, NamedSql>> translated =
      new EnumMap<>(RecordCheck.class);

  Statements(DialectTraits traits) {
    this(traits, traits.shareOfRecord());
  }

  private Statements(DialectTraits traits, String shareOfRecord) {
    this.traits = traits;
    this.shareOfRecord = shareOfRecord;
    for (RecordCheck check : RecordCheck.values()) {
      translated.put(check, new ConcurrentHashMap<>());
    }
  }

  /** The same for sessions whose single statements do not work at READ COMMITTED. */
  Statements sharingRecords() {
    return new Statements(traits, " FOR SHARE");
  }

  DialectTraits traits() {
    return traits;
  }

  /** A statement for one name that compares no record, ready to be bound. */
  NamedSql get(String text) {
    return get(text, 1, RecordCheck.NONE);
  }

  /** A statement for so many names, ready to be bound. */
  NamedSql get(String text, int names, RecordCheck check) {
    return Objects.requireNonNull(translated.get(check))
        .computeIfAbsent(
            names == 1 ? text : names + " " + text,
            key -> NamedSql.of(traits, inDialect(check.in(text)), names));
  }

  /** The text with everything but its named parameters in the database's own words. */
  String inDialect(String text) {
    return NUMBER
        .matcher(text)
        .replaceAll(column -> traits.isNumber(column.group(1)))
        .replace("{now}", traits.now())
        .replace("{greatest}", traits.greatest())
        .replace("{update}", traits.forUpdate())
        .replace("{share}", shareOfRecord)
        .replace("{primary}", traits.byPrimaryKey());
  }
}
