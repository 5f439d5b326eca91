package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.postgres.PostgresServer.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A sequence of tokens that another program has altered: no lease, and no harm to other leases. */
@ExtendWith(PostgresServer.Shared.class)
class AlteredTokensTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private Database database;

  @BeforeEach
  void open(Database database) {
    this.database = database;
  }

  private void restartSequence(String value) throws SQLException {
    database.execute("ALTER SEQUENCE lukko.fencing_token MINVALUE -1000 RESTART WITH " + value);
  }

  @ParameterizedTest
  @CsvSource({"0, false", "-50, false", "9007199254740992, false", "-50, true"})
  void lockWhoseTokenIsNoneIsGivenBack_andOtherLeasesGoOn(String value, boolean shared)
      throws Exception {
    try (PostgresAdvisoryLocks locks = database.locks().build();
        Lease held = locks.acquire("held", TTL)) {
      restartSequence(value);
      LockRequest one = LockRequest.builder("a").ttl(TTL).shared(shared).build();
      LockRequest two = LockRequest.builder("a", "b").ttl(TTL).shared(shared).build();
      assertThatThrownBy(() -> locks.acquire(one))
          .isInstanceOf(UnsuitableDatabaseException.class)
          .hasMessageContaining("fencing_token has given " + value);
      restartSequence(value);
      assertThatThrownBy(() -> locks.acquire(two))
          .isInstanceOf(UnsuitableDatabaseException.class)
          .hasMessageContaining("fencing_token");
      assertThat(held.isValid()).isTrue();
      assertThat(held.extend(TTL)).isTrue();
      assertThat(database.advisoryLocks()).as("but that of the other lease").isEqualTo(1);

      restartSequence(Long.toString(held.fencingToken() + 1));
      assertThat(locks.acquire(two).fencingToken()).isGreaterThan(held.fencingToken());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void transactionIsGivenNoTokenThatIsNone(boolean waits) throws Exception {
    try (PostgresAdvisoryLocks locks = database.locks().build();
        Connection connection = database.connect()) {
      restartSequence("-50");
      connection.setAutoCommit(false);
      assertThatThrownBy(
              () -> locks.inTransaction(connection, "a", Duration.ofSeconds(waits ? 30 : 0)))
          .isInstanceOf(UnsuitableDatabaseException.class);
      connection.rollback();
    }
  }

  @Test
  void queueGivesNobodyALeaseWithATokenThatIsNone_andTheRowToTheNext() throws Exception {
    SkipLockedQueue queue = SkipLockedQueue.builder(database.dataSource(), "q").build();
    try (queue) {
      queue.enqueue(QueueJob.of("one"));
      restartSequence("-50");
      assertThatThrownBy(() -> queue.lease(1, Duration.ofSeconds(1)))
          .isInstanceOf(UnsuitableDatabaseException.class);
      restartSequence("5000000000000000");
      await().atMost(Duration.ofMinutes(1)).until(() -> queue.lease(1, TTL).rows().size() == 1);
    }
  }
}
