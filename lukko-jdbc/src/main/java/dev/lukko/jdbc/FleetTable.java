package dev.lukko.jdbc;

import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.NotVoting;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The records of the fleets that a database serves, in a table beside its locks: each with what a
 * request compares of it in columns of its own, see {@link RecordCheck}.
 *
 * <p>The run of a database is its {@link Place}: the identity that was drawn with the tables, and
 * the server where that is known. A database does not forget what it has committed, so a restart is
 * no other run; tables that were made anew are, and so is a copy of them on another server.
 */
final class FleetTable {
  private FleetTable() {}

  /**
   * What a database remembers.
   *
   * @param identity that of its tables
   * @param nextMillis its clock, rounded up: a quarantine must not be shorter than it was ordered
   */
  record Kept(String identity, FleetMemory memory, long nextMillis) {}

  static Kept read(Session session) throws SQLException {
    return read(session, Statements.RECORDS);
  }

  /** The identity of the tables, where a row has it. */
  static String identityIn(ResultSet row, int column) throws SQLException {
    String identity = row.getString(column);
    if (identity == null || identity.isEmpty()) {
      throw noIdentity();
    }
    return identity;
  }

  private static SchemaException noIdentity() {
    return new SchemaException("the lock's tables have lost their identity", null);
  }

  private static Kept read(Session session, String records) throws SQLException {
    String identity;
    long nowMicros;
    try (ResultSet row =
        session.prepared(session.statements().inDialect(Statements.IDENTITY)).executeQuery()) {
      if (!row.next()) {
        throw noIdentity();
      }
      identity = identityIn(row, 1);
      nowMicros = row.getLong(2);
    }
    if (!identity.equals(session.place().tables())) {
      session.leaveAfterwards(); // The tables were made anew under this connection.
    }
    SortedMap<String, String> directory = new TreeMap<>();
    try (ResultSet rows =
        session.prepared(session.statements().inDialect(records)).executeQuery()) {
      while (rows.next()) {
        String key = session.traits().getText(rows, 1);
        if (key != null) {
          directory.put(key, record(session.traits(), rows));
        }
      }
    }
    String run = session.place().run(identity);
    FleetMemory memory =
        new FleetMemory(run, directory, Math.floorDiv(nowMicros, 1_000L), ""); // up for ever
    return new Kept(identity, memory, -Math.floorDiv(-nowMicros, 1_000L));
  }

  /**
   * A record's text; empty if another program has altered the row, so that what requests compare is
   * no longer what the record says. Its fleet sees that it cannot be read, and writes it anew.
   */
  private static String record(DialectTraits traits, ResultSet row) throws SQLException {
    String text = Objects.requireNonNullElse(traits.getText(row, 2), "");
    String seen = traits.getText(row, 3);
    String run = traits.getText(row, 4);
    long votesFrom = row.getLong(5);
    boolean numbered = !row.wasNull();
    return FleetRecord.parse(text)
            .filter(
                record ->
                    numbered
                        && votesFrom == votesFrom(record)
                        && record.seen().equals(seen)
                        && record.run().equals(run))
            .isPresent()
        ? text
        : "";
  }

  private static long votesFrom(FleetRecord record) {
    return Math.min(record.fromMillis(), Long.MAX_VALUE / 1_000) * 1_000;
  }

  /**
   * Why a request was not run that compares what its client has seen; null if nothing is in its
   * way, or by now nothing more.
   */
  static @Nullable NotVoting refusal(Session session, LockEntry entry, RecordCheck check)
      throws SQLException {
    if (entry.seen().isEmpty()) {
      return null;
    }
    Kept kept = read(session);
    String key = FleetRecord.keyOf(entry.seen());
    NodeStatus status =
        NodeStatus.remembering(kept.identity(), List.of(), Set.of(), kept.memory()).in(key);
    boolean same =
        kept.memory().record(key).filter(record -> record.seen().equals(entry.seen())).isPresent();
    if (same && (check == RecordCheck.SAME || status.state() == State.VOTING)) {
      return null;
    }
    return new NotVoting(status.asRefusal(same));
  }

  /** Writes a change in one transaction, unless the records are no longer those that were seen. */
  static void admit(Session session, NodeStatus seen, FleetChange change) throws SQLException {
    FleetMemory memory = seen.memory();
    if (memory == null) {
      return;
    }
    try {
      session.begin();
      DialectTraits.execute(session.connection(), session.traits().lockRecords());
      Kept kept = read(session, Statements.RECORDS_LOCKED);
      if (kept.memory().run().equals(memory.run())
          && kept.memory().directory().equals(memory.directory())) {
        write(session, change, kept);
      }
      session.commit();
    } catch (SQLException | RuntimeException failure) {
      session.abandon(failure);
      throw failure;
    }
  }

  private static void write(Session session, FleetChange change, Kept kept) throws SQLException {
    for (String dropped : change.dropped()) {
      PreparedStatement delete = session.prepared(Statements.RECORD_DELETE);
      session.traits().setText(delete, 1, dropped);
      delete.executeUpdate();
    }
    String key = change.record().key();
    String text = change.textAt(kept.nextMillis());
    boolean there = kept.memory().directory().containsKey(key) && !change.dropped().contains(key);
    PreparedStatement write =
        session.prepared(there ? Statements.RECORD_UPDATE : Statements.RECORD_INSERT);
    FleetRecord record =
        FleetRecord.parse(text)
            .orElseThrow(() -> new IllegalArgumentException("change makes \"" + text + "\""));
    session.traits().setText(write, 1, text);
    session.traits().setText(write, 2, record.seen());
    session.traits().setText(write, 3, record.run());
    write.setLong(4, votesFrom(record));
    session.traits().setText(write, 5, key);
    write.executeUpdate();
  }
}
