package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.postgres.PostgresServer.Database;
import java.sql.Connection;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

/** A DataSource of Spring that hands out the connection of the transaction that is running. */
@ExtendWith(PostgresServer.Shared.class)
class SpringTransactionTest {
  private Database database;
  private DataSource source;
  private TransactionAwareDataSourceProxy proxy;
  private JdbcTemplate jdbc;
  private TransactionTemplate transactions;
  private SkipLockedQueue queue;

  @BeforeEach
  void open(Database database) throws Exception {
    this.database = database;
    database.execute("CREATE TABLE written (n int)");
    source = database.dataSource();
    proxy = new TransactionAwareDataSourceProxy(source);
    jdbc = new JdbcTemplate(source); // Takes part in the transaction by itself.
    transactions = new TransactionTemplate(new DataSourceTransactionManager(source));
    queue = SkipLockedQueue.over(proxy, "mail");
  }

  @AfterEach
  void close() {
    queue.close();
  }

  private void rolledBackAround(Consumer<Connection> call) throws Exception {
    transactions.executeWithoutResult(
        status -> {
          call.accept(DataSourceUtils.getConnection(source));
          status.setRollbackOnly();
        });
    assertThat(database.number("SELECT count(*) FROM written")).isZero();
    assertThat(database.number("SELECT count(*) FROM lukko.queue")).isZero();
  }

  @Test
  void whatTheCallerHasWrittenIsStillRolledBack() throws Exception {
    rolledBackAround(
        connection -> {
          jdbc.update("INSERT INTO written VALUES (1)");
          assertThatThrownBy(() -> queue.enqueue(QueueJob.of("x")))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("enqueue(connection, job)");
          assertThatThrownBy(() -> queue.claim(1)).isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(() -> queue.lease(1, Duration.ofMinutes(1)))
              .isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(PostgresLastRunStore.over(proxy)::now)
              .isInstanceOf(IllegalStateException.class);
        });
  }

  @Test
  void transactionThatHasNotWrittenYetIsNotTakenForOneOfOurs() throws Exception {
    rolledBackAround(
        connection -> {
          assertThatThrownBy(() -> queue.claim(1)).isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(() -> queue.enqueue(QueueJob.of("x")))
              .isInstanceOf(IllegalStateException.class);
          jdbc.update("INSERT INTO written VALUES (1)");
        });
  }

  @Test
  void jobThatIsPutIntoTheCallersTransactionIsRolledBackWithIt() throws Exception {
    rolledBackAround(connection -> queue.enqueue(connection, QueueJob.of("x")));
  }

  @Test
  void withoutATransactionTheProxyIsADataSourceLikeOthers() throws Exception {
    queue.enqueue(QueueJob.of("x"));
    try (SkipLockedQueue.Claim claim = queue.claim(1)) {
      claim.work(claim.rows().get(0), (row, connection) -> {});
      claim.commit();
    }
    assertThat(database.number("SELECT count(*) FROM lukko.queue")).isZero();
  }
}
