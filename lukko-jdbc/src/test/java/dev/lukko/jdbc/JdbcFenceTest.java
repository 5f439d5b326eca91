package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JdbcFenceTest {
  private static final JdbcFence FENCE = JdbcFence.create();

  @ParameterizedTest
  @EnumSource
  void leaseOverSeveralResourcesIsCheckedByOneStatement(Dialect dialect) throws SQLException {
    DataSource database = withTable(dialect, FENCE);
    try (Redlock locks = Redlock.over(new InMemoryNode());
        Connection real = database.getConnection()) {
      real.setAutoCommit(false);
      for (int round = 0; round < 2; round++) {
        try (Lease lease =
            locks.acquire(LockRequest.builder("c", "a", "b").ttl(Duration.ofMinutes(1)).build())) {
          CountedConnection counted = new CountedConnection(real);
          FENCE.check(counted.connection(), lease);
          FENCE.check(counted.connection(), lease);
          FENCE.touch(counted.connection(), lease);
          real.commit();
          // MySQL tells a first contact from a refusal by asking; H2 inserts without waiting.
          int first = dialect == Dialect.MYSQL ? 1 : dialect == Dialect.H2 ? 4 : 0;
          assertThat(counted.statements()).isEqualTo(round == 0 ? 3 + first : 3);
          assertThat(tokens(database))
              .isEqualTo("a=T,b=T,c=T".replace("T", Long.toString(lease.fencingToken())));
        }
      }
    }
  }

  @Test
  void firstContactOnH2WaitsForAnotherOneByPausesOfItsOwnSinceH2WouldSpin() throws Exception {
    DataSource database = withTable(Dialect.H2, FENCE);
    try (Connection other = database.getConnection();
        Connection connection = database.getConnection()) {
      other.setAutoCommit(false);
      connection.setAutoCommit(false);
      try (Statement setting = connection.createStatement()) {
        setting.execute("SET LOCK_TIMEOUT 1500");
      }
      FENCE.check(other, "a", 33);
      CountedConnection counted = new CountedConnection(connection);
      assertThatThrownBy(() -> FENCE.check(counted.connection(), "a", 34))
          .isInstanceOfSatisfying(
              SQLException.class, busy -> assertThat(SqlStates.isLockTimeout(busy)).isTrue());
      assertThat(counted.statements()).as("tries, with pauses of up to 20 ms").isBetween(20, 200);
      try (Statement setting = connection.createStatement();
          ResultSet timeout = setting.executeQuery("SELECT LOCK_TIMEOUT()")) {
        timeout.next();
        assertThat(timeout.getInt(1)).isEqualTo(1500);
      }
      other.commit();
      FENCE.check(connection, "a", 34);
      connection.commit();
      assertThat(tokens(database)).isEqualTo("a=34");
    }
  }

  @ParameterizedTest
  @EnumSource
  void refusalNamesTheFirstResourceThatRefusesAndBothNumbers(Dialect dialect) throws SQLException {
    DataSource database = withTable(dialect, FENCE);
    try (Redlock locks = Redlock.over(new InMemoryNode());
        Connection connection = database.getConnection();
        Lease lease =
            locks.acquire(LockRequest.builder("c", "a", "b").ttl(Duration.ofMinutes(1)).build())) {
      connection.setAutoCommit(false);
      long token = lease.fencingToken();
      FENCE.check(connection, lease);
      FENCE.touch(connection, "c", token + 2);
      FENCE.check(connection, "b", token + 1);
      connection.commit();

      assertThatThrownBy(() -> FENCE.check(connection, lease))
          .isInstanceOfSatisfying(
              StaleTokenException.class,
              stale -> {
                assertThat(stale.resource()).isEqualTo("b");
                assertThat(stale.token()).isEqualTo(token);
                assertThat(stale.highest()).isEqualTo(token + 1);
              });
      assertThatThrownBy(() -> FENCE.touch(connection, lease))
          .isInstanceOf(StaleTokenException.class);
      connection.rollback();
    }
  }

  @ParameterizedTest
  @EnumSource
  void equalTokenPassesByDefaultAndOnceOnlyWhenStrict(Dialect dialect) throws SQLException {
    JdbcFence strict = FENCE.strict();
    DataSource database = withTable(dialect, FENCE);
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      FENCE.check(connection, "default", 34);
      FENCE.check(connection, "default", 34);

      strict.touch(connection, "strict", 34);
      strict.check(connection, "strict", 34);
      strict.touch(connection, "strict", 34);
      assertThatThrownBy(() -> strict.check(connection, "strict", 34))
          .isInstanceOf(StaleTokenException.class)
          .hasMessageContainingAll("34", "used already");
      strict.touch(connection, "strict", 35);
      strict.check(connection, "strict", 35);

      strict.check(connection, "first contact", 7);
      assertThatThrownBy(() -> strict.check(connection, "first contact", 7))
          .isInstanceOf(StaleTokenException.class);
      connection.commit();
    }
  }

  @ParameterizedTest
  @EnumSource
  void readByTheNewHolderRaisesTheFenceAlsoInAutocommitMode(Dialect dialect) throws SQLException {
    DataSource database = withTable(dialect, FENCE);
    try (Connection reader = database.getConnection();
        Connection writer = database.getConnection()) {
      FENCE.touch(reader, "account:7", 34);
      writer.setAutoCommit(false);
      assertThatThrownBy(() -> FENCE.check(writer, "account:7", 33))
          .isInstanceOf(StaleTokenException.class);
      writer.rollback();
    }
  }

  @ParameterizedTest
  @EnumSource
  void rollbackTakesTheRaisedTokenBack(Dialect dialect) throws SQLException {
    DataSource database = withTable(dialect, FENCE);
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      FENCE.check(connection, "account:7", 33);
      connection.commit();
      FENCE.check(connection, "account:7", 34);
      connection.rollback();
      FENCE.check(connection, "account:7", 33);
      connection.commit();
    }
    assertThat(tokens(database)).isEqualTo("account:7=33");
  }

  @ParameterizedTest
  @EnumSource
  void refusalLeavesTheTransactionUsable(Dialect dialect) throws SQLException {
    DataSource database = withTable(dialect, FENCE);
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      FENCE.check(connection, "a", 34);
      assertThatThrownBy(() -> FENCE.check(connection, "a", 33))
          .isInstanceOf(StaleTokenException.class);
      FENCE.check(connection, "b", 33);
      connection.commit();
    }
    assertThat(tokens(database)).isEqualTo("a=34,b=33");
  }

  @ParameterizedTest
  @EnumSource
  void connectionInAutocommitModeIsRefusedBeforeAnyStatement(Dialect dialect) throws SQLException {
    DataSource database = withTable(dialect, FENCE);
    try (Connection real = database.getConnection()) {
      CountedConnection counted = new CountedConnection(real);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> FENCE.check(counted.connection(), "account:7", 34))
          .withMessageContainingAll("autocommit", "setAutoCommit(false)");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> FENCE.touch(counted.connection(), "account:7", 0))
          .withMessageContainingAll("token", "0");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> FENCE.touch(counted.connection(), "", 1))
          .withMessageContaining("resource");
      assertThat(counted.statements()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void namesAreComparedExactly(Dialect dialect) throws SQLException {
    DataSource database = withTable(dialect, FENCE);
    String longest = "\u20AC".repeat(255);
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      FENCE.check(connection, "account", 34);
      for (String other :
          new String[] {
            "Account", "account ", "\u00E4ccount", "ACCOUNT", "a\uD83D\uDD12", longest
          }) {
        FENCE.check(connection, other, 1);
      }
      FENCE.check(connection, longest, Long.MAX_VALUE);
      connection.commit();
    }
    assertThat(tokens(database)).contains("account=34", longest + "=" + Long.MAX_VALUE);
  }

  @ParameterizedTest
  @EnumSource
  void resourcesWithoutContactAreForgottenInBatchesAndOthersStay(Dialect dialect)
      throws SQLException {
    JdbcFence fence = FENCE.inTable("other_fence");
    DataSource database = withTable(dialect, fence);
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < 1_001; i++) {
        fence.check(connection, "old-" + i, 1);
      }
      connection.commit();
      try (Statement age = connection.createStatement()) {
        age.execute("UPDATE other_fence SET touched_at = touched_at - 7200000");
      }
      fence.touch(connection, "old-7", 1);
      fence.check(connection, "new", 1);
      connection.commit();
    }
    assertThat(fence.purge(database, Duration.ofHours(3))).isZero();
    assertThat(fence.purge(database, Duration.ofHours(1))).isEqualTo(1_000);
    assertThat(fence.purge(database, Duration.ofHours(1))).isZero();
    try (Connection connection = database.getConnection()) {
      assertThatThrownBy(
              () -> {
                fence.touch(connection, "new", 2);
                fence.touch(connection, "new", 1);
              })
          .isInstanceOf(StaleTokenException.class);
    }
  }

  @Test
  void settingsOutOfRangeAreRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FENCE.inTable("fence; DROP TABLE account"))
        .withMessageContainingAll("table", "DROP");
    assertThatIllegalArgumentException().isThrownBy(() -> FENCE.inTable("a.b.c"));
    assertThatCode(() -> FENCE.inTable("public.fence")).doesNotThrowAnyException();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FENCE.purge(null, Duration.ofMinutes(59)))
        .withMessageContaining("unusedFor");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FENCE.purge(null, Duration.ofSeconds(Long.MAX_VALUE)))
        .withMessageContaining("unusedFor");
  }

  private static DataSource withTable(Dialect dialect, JdbcFence fence) throws SQLException {
    DataSource database = EmptyDatabases.create(dialect);
    try (Connection connection = database.getConnection()) {
      fence.createTable(connection);
      fence.createTable(connection);
    }
    return database;
  }

  private static String tokens(DataSource database) throws SQLException {
    StringBuilder all = new StringBuilder();
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT resource, token FROM lukko_fence ORDER BY resource")) {
      Dialect dialect = Dialect.of(connection);
      while (row.next()) {
        all.append(all.length() == 0 ? "" : ",")
            .append(Dialects.readName(dialect, row, 1))
            .append('=')
            .append(row.getLong(2));
      }
    }
    return all.toString();
  }
}
