package dev.lukko.jdbc;

import dev.lukko.Lease;
import dev.lukko.fencing.FenceArguments;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.jdbc.FenceSql.Contact;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import javax.sql.DataSource;

/**
 * A fence in a table of its own, in the database that holds the data: the check is part of the
 * caller's transaction.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * fence.check(connection, lease);      // first: it locks the resource's fence row
 * ... the writes ...
 * connection.commit();
 * }</pre>
 *
 * <p><b>Why check and write are one step.</b> The check is one statement that raises the resource's
 * row and keeps it locked until the transaction ends. No other token, lower or higher, gets past
 * its own check in between: it waits, and then meets what was committed. A rollback takes the
 * raised token back together with the writes.
 *
 * <p>Make the check the first statement of the transaction. Under {@code REPEATABLE READ} a query
 * before it fixes what the transaction sees; PostgreSQL then refuses with a serialization failure
 * when the row has moved on (roll back, run again), but MySQL goes on with the old view.
 *
 * <p><b>Cost:</b> one statement, for a lease of several resources too. A refusal takes another, and
 * on MySQL the very first contact of a resource does, and a strict check; on H2 that takes four
 * more. Where the data is one row that can have a column of its own, {@link RowFence} costs none;
 * for tables that several programs write, see {@link #triggerDdl}.
 *
 * <p>Every isolation level is right, from {@code READ UNCOMMITTED} to {@code SERIALIZABLE}, on
 * PostgreSQL, MySQL and MariaDB (InnoDB), H2 and SQLite. How long a check waits for another's
 * transaction is the database's lock timeout. Exceptions of the driver, among them serialization
 * failures and deadlocks, pass unchanged.
 *
 * <p>Immutable and thread-safe; it holds no connection.
 */
public final class JdbcFence {
  /** The table's name, unless another is given. */
  public static final String DEFAULT_TABLE = "lukko_fence";

  private static final int ATTEMPTS = 3;
  private static final int PURGE_BATCH = 500;
  private static final Duration LONGEST_UNUSED = Duration.ofDays(36_500);

  private final String table;
  private final boolean strict;

  private JdbcFence(String table, boolean strict) {
    this.table = table;
    this.strict = strict;
  }

  /** A fence in the default table that lets a holder write several times. */
  public static JdbcFence create() {
    return new JdbcFence(DEFAULT_TABLE, false);
  }

  /** The same in another table, {@code name} or {@code schema.name} of letters, digits and _. */
  public JdbcFence inTable(String name) {
    return new JdbcFence(SqlNames.table("table", name), strict);
  }

  /** The same, accepting each token for one write only. */
  public JdbcFence strict() {
    return new JdbcFence(table, true);
  }

  /** The statement that creates the table if it is missing. */
  public String ddl(Dialect dialect) {
    return FenceSql.createTable(dialect, table);
  }

  /**
   * Creates the table if it is missing. On PostgreSQL and SQLite it is there when the connection's
   * transaction commits, or at once in autocommit mode.
   *
   * @throws IllegalStateException if the connection has a transaction in it that this would commit,
   *     as MySQL, MariaDB and H2 do
   */
  public void createTable(Connection connection) throws SQLException {
    Dialect dialect = Dialect.of(connection);
    boolean commits = dialect == Dialect.MYSQL || dialect == Dialect.H2;
    if (commits && dialect.traits().hasTransaction(connection)) {
      throw new IllegalStateException(
          "the connection has a transaction in it, which the creation of the table would commit;"
              + " call createTable before the transaction, or on another connection");
    }
    DialectTraits.execute(connection, ddl(dialect));
  }

  /**
   * Checks a write with the lease's token against all its resources, within the connection's
   * transaction. The resources are taken in the order of their names, so that two leases that share
   * some cannot deadlock here.
   *
   * @param connection the one that will write; not in autocommit mode
   * @throws StaleTokenException if one of the resources refuses the token; roll back
   * @throws IllegalArgumentException if the connection is in autocommit mode
   */
  public void check(Connection connection, Lease lease) throws SQLException {
    raise(connection, lease.resources(), lease.fencingToken(), writeContact());
  }

  /** {@link #check(Connection, Lease)} for one resource and a token that came by another way. */
  public void check(Connection connection, String resource, long token) throws SQLException {
    raise(connection, List.of(FenceArguments.resource(resource)), token, writeContact());
  }

  /**
   * Remembers the lease's token for a read: run it before the query. In autocommit mode it stands
   * at once; within a transaction, with its commit.
   *
   * @throws StaleTokenException if one of the resources has seen a higher token
   */
  public void touch(Connection connection, Lease lease) throws SQLException {
    raise(connection, lease.resources(), lease.fencingToken(), Contact.READ);
  }

  /** {@link #touch(Connection, Lease)} for one resource and a token that came by another way. */
  public void touch(Connection connection, String resource, long token) throws SQLException {
    raise(connection, List.of(FenceArguments.resource(resource)), token, Contact.READ);
  }

  /**
   * Forgets resources that had no contact for a while, in transactions of at most 500 rows.
   *
   * @param unusedFor longer than any holder could be paused and still come back; from one hour to
   *     36500 days
   * @return how many were forgotten
   */
  public int purge(DataSource database, Duration unusedFor) throws SQLException {
    if (unusedFor.compareTo(Duration.ofHours(1)) < 0 || unusedFor.compareTo(LONGEST_UNUSED) > 0) {
      throw new IllegalArgumentException(
          "unusedFor is " + unusedFor + "; it must be from one hour to 36500 days");
    }
    return new BatchedPurge(table, "resource", "touched_at", PURGE_BATCH)
        .run(database, unusedFor.toMillis());
  }

  /**
   * The statements, for PostgreSQL, that put a fence onto a table which several programs write:
   * afterwards each update of a row has to set the fence column to its writer's token, and is
   * refused if that is lower than the row's, or not given at all. Run them as one script.
   *
   * <p>Add the column first: {@code ALTER TABLE account ADD COLUMN fence BIGINT NOT NULL DEFAULT
   * 0}. {@link #staleToken} makes the exception of the refusal. Who has to write without a lock
   * says so by {@code SET fence = fence}. A {@code DELETE} has no new row and passes.
   *
   * @param table the table, {@code name} or {@code schema.name}
   * @param fenceColumn the column of the highest token
   */
  public static String triggerDdl(String table, String fenceColumn) {
    return FenceTrigger.ddl(
        SqlNames.table("table", table), SqlNames.column("fenceColumn", fenceColumn));
  }

  /** The refusal by a {@linkplain #triggerDdl trigger}, if this exception or its cause is one. */
  public static Optional<StaleTokenException> staleToken(SQLException failure) {
    return FenceTrigger.staleToken(failure);
  }

  private Contact writeContact() {
    return strict ? Contact.WRITE_ONCE : Contact.WRITE;
  }

  private void raise(Connection connection, List<String> resources, long token, Contact contact)
      throws SQLException {
    FenceArguments.token(token);
    if (contact != Contact.READ && connection.getAutoCommit()) {
      throw new IllegalArgumentException(
          "connection is in autocommit mode; the check and the write that follows must be in one"
              + " transaction: call setAutoCommit(false) first and commit() after the write");
    }
    Dialect dialect = Dialect.of(connection);
    H2FirstContact first = dialect == Dialect.H2 ? new H2FirstContact(connection) : null;
    if (first != null && first.updated(table, resources, token, contact)) {
      return;
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Step write = () -> write(connection, dialect, resources, token, contact);
      if ((first == null ? write.run() : first.withPauses(write))
          || isRaised(connection, dialect, resources, token, contact)) {
        return;
      }
      // A row was forgotten or inserted just now: look again. At H2's higher isolation levels an
      // insert of another transaction stays invisible, and the loop ends.
    }
    throw new SQLTransactionRollbackException(
        "the fence row of one of "
            + resources
            + " is newer than what this transaction can see; roll back and run it again",
        "40001");
  }

  /** A statement, and whether it did all that there was to do. */
  @FunctionalInterface
  interface Step {
    boolean run() throws SQLException;
  }

  private boolean write(
      Connection connection, Dialect dialect, List<String> resources, long token, Contact contact)
      throws SQLException {
    int rows = resources.size();
    if (dialect == Dialect.MYSQL && contact == Contact.WRITE_ONCE) {
      upsert(connection, dialect, FenceSql.lockMySql(table, rows), resources, 0, 0);
      return updated(connection, dialect, table, resources, token, contact);
    }
    long written = contact == Contact.READ ? 0 : token;
    String sql = FenceSql.raise(dialect, table, contact, rows);
    try {
      int count = upsert(connection, dialect, sql, resources, token, written);
      return count == (dialect == Dialect.MYSQL ? 2 : 1) * rows;
    } catch (SQLException failed) {
      // H2 looks for the row and inserts it in two steps; another one came between them.
      if (dialect == Dialect.H2 && SqlStates.isDuplicate(failed)) {
        return false;
      }
      throw failed;
    }
  }

  private static int upsert(
      Connection connection,
      Dialect dialect,
      String sql,
      List<String> resources,
      long token,
      long written)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      int index = 0;
      for (String resource : resources) {
        Dialects.bindName(dialect, statement, ++index, resource);
        statement.setLong(++index, token);
        statement.setLong(++index, written);
      }
      return statement.executeUpdate();
    }
  }

  /** Whether all rows were there, and took the token. */
  static boolean updated(
      Connection connection,
      Dialect dialect,
      String table,
      List<String> resources,
      long token,
      Contact contact)
      throws SQLException {
    String sql = FenceSql.update(dialect, table, contact, resources.size());
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      int index = 0;
      statement.setLong(++index, token);
      if (contact != Contact.READ) {
        statement.setLong(++index, token);
      }
      for (String resource : resources) {
        Dialects.bindName(dialect, statement, ++index, resource);
      }
      statement.setLong(++index, token);
      if (contact == Contact.WRITE_ONCE) {
        statement.setLong(++index, token);
      }
      return statement.executeUpdate() == resources.size();
    }
  }

  /**
   * Whether all rows have the token, which came there just now or under the same lease; throws if
   * one refuses it.
   */
  private boolean isRaised(
      Connection connection, Dialect dialect, List<String> resources, long token, Contact contact)
      throws SQLException {
    int raised = 0;
    TreeMap<String, Long> refusing = new TreeMap<>();
    String sql = FenceSql.read(dialect, table, resources.size());
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      int index = 0;
      for (String resource : resources) {
        Dialects.bindName(dialect, statement, ++index, resource);
      }
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          long highest = row.getLong(2);
          if (highest > token || (contact == Contact.WRITE_ONCE && row.getLong(3) == token)) {
            refusing.put(Dialects.readName(dialect, row, 1), highest);
          } else if (dialect == Dialect.MYSQL && highest == token) {
            raised++;
          }
        }
      }
    }
    if (!refusing.isEmpty()) {
      throw new StaleTokenException(refusing.firstKey(), token, refusing.firstEntry().getValue());
    }
    return contact != Contact.WRITE_ONCE && raised == resources.size();
  }
}
