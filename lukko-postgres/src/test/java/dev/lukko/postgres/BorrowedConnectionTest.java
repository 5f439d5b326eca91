package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.postgres.PostgresServer.Database;
import dev.lukko.schedule.LastRunStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.PGConnection;
import org.postgresql.jdbc.AutoSave;

/** Connections that come from a pool of one, or from a transaction that is running. */
@ExtendWith(PostgresServer.Shared.class)
class BorrowedConnectionTest {
  private Database database;
  private Connection connection;
  private DataSource source;

  @BeforeEach
  void open(Database database) throws SQLException {
    this.database = database;
    database.execute("CREATE TABLE written (n int)");
    connection = database.connect();
    source = handingOut(connection);
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
  }

  /** Gives the one connection each time, and leaves it open, as Spring does in a transaction. */
  private static DataSource handingOut(Connection connection) {
    ClassLoader loader = BorrowedConnectionTest.class.getClassLoader();
    Object lent =
        Proxy.newProxyInstance(
            loader,
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                return null;
              }
              try {
                return method.invoke(connection, arguments);
              } catch (InvocationTargetException failed) {
                throw failed.getCause();
              }
            });
    return (DataSource)
        Proxy.newProxyInstance(
            loader, new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> lent);
  }

  private SkipLockedQueue queue() {
    return SkipLockedQueue.builder(source, "mail").notify(false).build();
  }

  private void begin() throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.execute("INSERT INTO written VALUES (1)");
    }
  }

  private void expectRefusal(ThrowingCallable call) throws SQLException {
    begin();
    assertThatThrownBy(call)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("transaction that is running")
        .hasMessageContaining("DataSource behind the proxy");
    assertThat(connection.getAutoCommit()).isFalse();
    connection.rollback();
    assertThat(database.number("SELECT count(*) FROM written")).as("rolled back").isZero();
  }

  @Test
  void transactionOfTheCallerIsNotCommittedByAnythingThatTheModuleDoes() throws Exception {
    try (SkipLockedQueue queue = queue()) {
      expectRefusal(() -> queue.enqueue(QueueJob.of("x")));
      expectRefusal(() -> queue.claim(1));
      expectRefusal(() -> queue.lease(1, Duration.ofMinutes(1)));
      expectRefusal(() -> queue.deadLetters(1));
      expectRefusal(() -> queue.revive(1));
      connection.setAutoCommit(true);
      queue.enqueue(QueueJob.of("x"));
      LeasedRows leased = queue.lease(1, Duration.ofMinutes(1));
      expectRefusal(() -> leased.renew(Duration.ofMinutes(1)));
      expectRefusal(leased::finishAll);
      expectRefusal(() -> leased.fail(leased.rows().get(0), "no"));
    }
    LastRunStore store = PostgresLastRunStore.over(source);
    expectRefusal(store::now);
    expectRefusal(() -> store.begin("job", Instant.EPOCH, 1, "me", Set.of()));
    expectRefusal(() -> store.history("job", 1));
    expectRefusal(() -> PostgresSchema.named("other").create(source));
    assertThat(database.number("SELECT count(*) FROM lukko.queue WHERE attempts = 1")).isOne();
  }

  @Test
  void poolWithAutocommitOffIsServedAndItsConnectionsStayThatWay() throws Exception {
    connection.setAutoCommit(false);
    PostgresSchema.named("other").create(source);
    assertThat(database.number("SELECT count(*) FROM other.queue")).isZero();
    useEverything();
    assertThat(connection.getAutoCommit()).isFalse();
    assertThat(database.number("SELECT count(*) FROM lukko.queue")).isZero();
  }

  @Test
  void connectionGoesBackAsItCame() throws Exception {
    connection.setNetworkTimeout(Runnable::run, 45_000);
    connection.unwrap(PGConnection.class).setAutosave(AutoSave.CONSERVATIVE);
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET statement_timeout = '31s'");
      statement.execute("SET synchronous_commit = remote_write");
    }
    String before = settings();
    useEverything();
    assertThat(connection.getAutoCommit()).isTrue();
    assertThat(connection.getNetworkTimeout()).isEqualTo(45_000);
    assertThat(connection.unwrap(PGConnection.class).getAutosave())
        .isEqualTo(AutoSave.CONSERVATIVE);
    assertThat(connection.getTransactionIsolation())
        .isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
    assertThat(settings()).isEqualTo(before);
  }

  private String settings() throws SQLException {
    try (Statement statement = connection.createStatement();
        java.sql.ResultSet row =
            statement.executeQuery(
                "SELECT string_agg(name || '=' || setting, ',' ORDER BY name) FROM pg_settings"
                    + " WHERE name NOT LIKE 'transaction\\_%'")) {
      row.next();
      return row.getString(1);
    }
  }

  private void useEverything() throws Exception {
    try (SkipLockedQueue queue = queue()) {
      queue.enqueue(QueueJob.of("a"));
      queue.enqueue(QueueJob.of("b"));
      queue.claim(1).close();
      try (SkipLockedQueue.Claim claim = queue.claim(1)) {
        claim.work(claim.rows().get(0), (row, same) -> {});
        claim.commit();
      }
      LeasedRows leased = queue.lease(1, Duration.ofMinutes(1));
      assertThat(leased.finishAll()).isOne();
      queue.deadLetters(1);
      queue.awaitWork(Duration.ofMillis(300)); // Listens, and gives the connection back at the end.
    }
    LastRunStore store = PostgresLastRunStore.over(source);
    store.begin("job", Instant.EPOCH, 1, "me", Set.of());
    assertThat(store.history("job", 1)).hasSize(1);
  }
}
