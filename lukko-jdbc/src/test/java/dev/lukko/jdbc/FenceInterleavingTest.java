package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.jdbc.InterleavedTransaction.Outcome;
import dev.lukko.jdbc.InterleavedTransaction.Step;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two writers with tokens 33 and 34, all interleavings of their statements, each form of the fence,
 * each isolation level, on real databases.
 */
class FenceInterleavingTest {
  private static final Map<Dialect, DataSource> DATABASES = new EnumMap<>(Dialect.class);
  private static final JdbcFence FENCE = JdbcFence.create();
  private static final RowFence ROWS = RowFence.on("account", "fence", "id");

  /** How the writers are fenced, and what the table has seen before. */
  enum Form {
    TABLE_FIRST_CONTACT,
    TABLE,
    TABLE_STRICT,
    TABLE_AFTER_READ,
    ROW,
    ROW_STRICT,
    ROW_AFTER_READ,
    TRIGGER,
    NONE;

    List<Step> steps(long token) {
      return switch (this) {
        case TABLE, TABLE_FIRST_CONTACT -> List.of(check(FENCE, token), write(token), commit());
        case TABLE_STRICT -> List.of(check(FENCE.strict(), token), write(token), commit());
        case TABLE_AFTER_READ -> List.of(read(), check(FENCE, token), write(token), commit());
        case ROW -> List.of(writeRow(ROWS, token), commit());
        case ROW_STRICT -> List.of(writeRow(ROWS.strict(), token), commit());
        case ROW_AFTER_READ -> List.of(read(), writeRow(ROWS, token), read(), commit());
        case TRIGGER -> List.of(read(), writeTriggered(token), commit());
        case NONE -> List.of(read(), write(token), commit());
      };
    }
  }

  static Stream<Arguments> everyFormLevelAndDatabase() {
    List<Arguments> all = new ArrayList<>();
    for (Dialect dialect : Dialect.values()) {
      for (int isolation : isolations(dialect)) {
        for (Form form : EnumSet.complementOf(EnumSet.of(Form.NONE))) {
          if (form != Form.TRIGGER || dialect == Dialect.POSTGRES) {
            all.add(Arguments.of(dialect, isolation, form));
          }
        }
      }
    }
    return all.stream();
  }

  @ParameterizedTest(name = "{0}, isolation {1}, {2}")
  @MethodSource("everyFormLevelAndDatabase")
  void inEveryOrderTheValueOf34StaysAnd33AfterItIsRefusedWithBothNumbers(
      Dialect dialect, int isolation, Form form) throws SQLException {
    Set<Outcome> outcomesOf33 = EnumSet.noneOf(Outcome.class);
    try (Two two = new Two(dialect, isolation, form)) {
      for (String order : orders(form)) {
        two.run(order);

        assertThat(two.value()).as(order).isEqualTo(34);
        assertThat(two.newer.outcome()).as(order).isEqualTo(Outcome.COMMITTED);
        if (two.older.outcome() == Outcome.COMMITTED) {
          assertThat(two.commits).as(order).containsExactly(33L, 34L);
        } else {
          assertRefusal(two, order);
        }
        outcomesOf33.add(two.older.outcome());

        two.runAlone(two.older, 33);
        assertRefusal(two, order + ", and 33 again");
        assertThat(two.value()).as(order).isEqualTo(34);
      }
    }
    // Both ends were met, or the interleavings were none.
    assertThat(outcomesOf33).containsExactlyInAnyOrder(Outcome.COMMITTED, Outcome.REFUSED);
  }

  @ParameterizedTest
  @EnumSource
  void withoutAFenceSomeOrderLosesTheValueOf34(Dialect dialect) throws SQLException {
    Set<Long> values = new LinkedHashSet<>();
    try (Two two = new Two(dialect, isolations(dialect)[0], Form.NONE)) {
      for (String order : orders(Form.NONE)) {
        two.run(order);
        values.add(two.value());
      }
    }
    assertThat(values).containsExactlyInAnyOrder(33L, 34L);
  }

  private static void assertRefusal(Two two, String order) {
    assertThat(two.older.outcome()).as(order).isEqualTo(Outcome.REFUSED);
    assertThat(two.older.refusal().token()).as(order).isEqualTo(33);
    assertThat(two.older.refusal().highest()).as(order).isEqualTo(34);
    assertThat(two.older.refusal()).hasMessageContainingAll("33", "34");
  }

  private static int[] isolations(Dialect dialect) {
    return dialect == Dialect.SQLITE
        ? new int[] {Connection.TRANSACTION_SERIALIZABLE}
        : new int[] {
          Connection.TRANSACTION_READ_UNCOMMITTED,
          Connection.TRANSACTION_READ_COMMITTED,
          Connection.TRANSACTION_REPEATABLE_READ,
          Connection.TRANSACTION_SERIALIZABLE
        };
  }

  /** All ways to merge the steps of the older ('o') and of the newer ('n') transaction. */
  private static List<String> orders(Form form) {
    List<String> all = new ArrayList<>();
    merge("", form.steps(33).size(), form.steps(34).size(), all);
    return all;
  }

  private static void merge(String done, int older, int newer, List<String> all) {
    if (older == 0 && newer == 0) {
      all.add(done);
    }
    if (older > 0) {
      merge(done + 'o', older - 1, newer, all);
    }
    if (newer > 0) {
      merge(done + 'n', older, newer - 1, all);
    }
  }

  private static Step check(JdbcFence fence, long token) {
    return connection -> fence.check(connection, "account:7", token);
  }

  private static Step write(long token) {
    return connection ->
        execute(connection, "UPDATE account SET balance = " + token + " WHERE id = 7");
  }

  private static Step writeRow(RowFence fence, long token) {
    return connection ->
        assertThat(fence.update(connection, token, List.of(7), "balance = ?", token)).isTrue();
  }

  private static Step writeTriggered(long token) {
    return connection ->
        execute(
            connection,
            "UPDATE account SET balance = " + token + ", fence = " + token + " WHERE id = 7");
  }

  private static Step read() {
    return connection -> value(connection);
  }

  private static Step commit() {
    return Connection::commit;
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static long value(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT balance FROM account WHERE id = 7");
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  @AfterAll
  static void forget() {
    DATABASES.clear();
  }

  /** The two transactions, and what is between them. */
  private static final class Two implements AutoCloseable {
    final List<Long> commits = new ArrayList<>();
    private final Form form;
    private final Connection admin;
    private final LockWaits waits;
    final InterleavedTransaction older;
    final InterleavedTransaction newer;

    Two(Dialect dialect, int isolation, Form form) throws SQLException {
      DataSource database = DATABASES.computeIfAbsent(dialect, EmptyDatabases::create);
      this.form = form;
      this.admin = database.getConnection();
      this.waits = new LockWaits(dialect, database);
      FENCE.createTable(admin);
      execute(admin, "DROP TABLE IF EXISTS account");
      execute(
          admin,
          "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT, fence BIGINT NOT NULL)");
      execute(admin, "INSERT INTO account VALUES (7, 0, 0)");
      if (form == Form.TRIGGER) {
        execute(admin, JdbcFence.triggerDdl("account", "fence"));
      }
      this.older = new InterleavedTransaction(connect(database, dialect), isolation, waits);
      this.newer = new InterleavedTransaction(connect(database, dialect), isolation, waits);
    }

    private static Connection connect(DataSource database, Dialect dialect) throws SQLException {
      Connection connection = database.getConnection();
      if (dialect == Dialect.H2) {
        execute(connection, "SET LOCK_TIMEOUT 60000");
      } else if (dialect == Dialect.POSTGRES) {
        execute(connection, "SET deadlock_timeout = '50ms'");
      }
      return connection;
    }

    long value() throws SQLException {
      return FenceInterleavingTest.value(admin);
    }

    void run(String order) throws SQLException {
      reset();
      older.begin(form.steps(33));
      newer.begin(form.steps(34));
      for (int i = 0; i < order.length(); i++) {
        advance(order.charAt(i) == 'o' ? older : newer);
      }
      while (older.isRunning() || newer.isRunning()) {
        advance(older);
        advance(newer);
      }
      retry(older, 33);
      retry(newer, 34);
    }

    void runAlone(InterleavedTransaction transaction, long token) {
      transaction.begin(form.steps(token));
      while (transaction.isRunning()) {
        advance(transaction);
      }
    }

    /** One step, unless the transaction has ended or still waits for the other. */
    private void advance(InterleavedTransaction transaction) {
      settleBoth();
      if (transaction.isRunning() && !transaction.isBlocked()) {
        transaction.step();
        settleBoth();
      }
    }

    private void settleBoth() {
      for (InterleavedTransaction one : List.of(older, newer)) {
        one.settle();
        long token = one == older ? 33 : 34;
        if (one.outcome() == Outcome.COMMITTED && !commits.contains(token)) {
          commits.add(token);
        }
      }
    }

    private void retry(InterleavedTransaction transaction, long token) {
      if (transaction.outcome() == Outcome.CONFLICT) {
        runAlone(transaction, token);
      }
    }

    private void reset() throws SQLException {
      commits.clear();
      execute(admin, "DELETE FROM account");
      execute(admin, "INSERT INTO account VALUES (7, 0, 32)");
      execute(admin, "DELETE FROM lukko_fence");
      if (form != Form.TABLE_FIRST_CONTACT) {
        admin.setAutoCommit(false);
        FENCE.check(admin, "account:7", 32);
        admin.commit();
        admin.setAutoCommit(true);
      }
    }

    @Override
    public void close() throws SQLException {
      older.close();
      newer.close();
      waits.close();
      admin.close();
    }
  }
}
