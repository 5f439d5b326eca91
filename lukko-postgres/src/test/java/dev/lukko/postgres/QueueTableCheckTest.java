package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lukko.postgres.PostgresServer.Database;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables of one's own that are not what the queue takes them for. */
@ExtendWith(PostgresServer.Shared.class)
class QueueTableCheckTest {
  private Database database;
  private SkipLockedQueue queue;

  @BeforeEach
  void open(Database database) throws Exception {
    this.database = database;
    database.execute(
        "CREATE TABLE orders (id bigint PRIMARY KEY, body jsonb, ready_at timestamptz NOT NULL"
            + " DEFAULT now(), attempts int NOT NULL DEFAULT 0, dead_at timestamptz, done_at"
            + " timestamptz, priority int NOT NULL DEFAULT 0, customer varchar(40), token bigint,"
            + " error text)");
    queue =
        SkipLockedQueue.builder(database.dataSource(), "orders")
            .table(
                QueueTable.builder("orders")
                    .payload("body")
                    .doneAt("done_at")
                    .priority("priority")
                    .orderingKey("customer")
                    .leaseToken("token")
                    .lastError("error")
                    .build())
            .build();
  }

  @AfterEach
  void close() {
    queue.close();
  }

  @Test
  void tableThatIsRightIsTaken() throws Exception {
    database.execute("INSERT INTO orders (id, body) VALUES (1, '{}')");
    assertThat(queue.lease(1, Duration.ofMinutes(1)).rows()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "ALTER COLUMN ready_at TYPE timestamp, ready_at is timestamp without time zone",
    "ALTER COLUMN dead_at TYPE timestamp, dead_at is timestamp without time zone",
    "ALTER COLUMN done_at TYPE timestamp, done_at is timestamp without time zone",
    "ALTER COLUMN ready_at DROP NOT NULL, ready_at may be null",
    "ALTER COLUMN attempts DROP NOT NULL, attempts may be null",
    "ALTER COLUMN priority DROP NOT NULL, priority may be null",
    "ALTER COLUMN priority TYPE text, priority is text and must be integer",
    "ALTER COLUMN dead_at SET DEFAULT now(), dead_at has the default now()",
    "ALTER COLUMN token SET DEFAULT 7, token has the default 7",
    "ALTER COLUMN done_at SET NOT NULL, done_at must not be null",
    "ALTER COLUMN token TYPE int, token is integer and must be bigint",
    "ALTER COLUMN customer TYPE char(9), customer is character(9) and must be text",
    "ALTER COLUMN error TYPE varchar(80), error is character varying(80)",
    "DROP CONSTRAINT orders_pkey, id may have one value twice",
    "DROP COLUMN customer, it has no column customer"
  })
  void faultIsRefusedAtTheFirstCallWithTheStatementThatMendsIt(String change, String said)
      throws Exception {
    if (change.contains("TYPE text")) {
      database.execute("ALTER TABLE orders ALTER COLUMN priority DROP DEFAULT");
    }
    database.execute("ALTER TABLE orders " + change);
    Throwable refused = catchThrowable(() -> queue.claim(1));
    assertThat(refused)
        .isInstanceOf(UnsuitableDatabaseException.class)
        .hasMessageContaining("table orders cannot be a queue as it is")
        .hasMessageContaining(said);
    String message = String.valueOf(refused.getMessage());
    String mend = message.replaceFirst("^.*? \\((?=UPDATE|ALTER)", "");
    database.execute(
        mend.substring(0, mend.length() - 1)
            .replace(", with the zone in which it was written", ""));
    queue.claim(1).close();
  }

  @Test
  void allFaultsAreNamedAtOnceAndATableThatIsMissingIsSaidToBe() throws Exception {
    database.execute("ALTER TABLE orders ALTER ready_at TYPE timestamp, DROP COLUMN error");
    assertThatThrownBy(() -> queue.lease(1, Duration.ofMinutes(1)))
        .isInstanceOf(UnsuitableDatabaseException.class)
        .hasMessageContaining("ready_at is")
        .hasMessageContaining("no column error");
    database.execute("DROP TABLE orders");
    assertThatThrownBy(() -> queue.claim(1))
        .isInstanceOf(UnsuitableDatabaseException.class)
        .hasMessageContaining("table orders is missing");
  }

  @Test
  void queuesThatSpellOneTableDifferentlyKeepItsKeysApartAllTheSame() throws Exception {
    try (SkipLockedQueue bare = ordered("orders");
        SkipLockedQueue qualified = ordered("public.orders");
        Connection slow = database.connect();
        Statement statement = slow.createStatement()) {
      slow.setAutoCommit(false);
      statement.execute("INSERT INTO orders (id, customer) VALUES (1, 'a')");
      database.execute("INSERT INTO orders (id, customer) VALUES (2, 'a')");
      try (SkipLockedQueue.Claim claim = bare.claim(5)) {
        assertThat(claim.rows()).extracting(QueueRow::id).containsExactly(2L);
        slow.commit(); // Now the row with the lower id is there.
        try (SkipLockedQueue.Claim other = qualified.claim(5)) {
          assertThat(other.rows()).isEmpty();
        }
      }
    }
  }

  private SkipLockedQueue ordered(String table) {
    return SkipLockedQueue.builder(database.dataSource(), "orders")
        .table(QueueTable.builder(table).orderingKey("customer").build())
        .ordered(true)
        .build();
  }

  @Test
  void ourOwnTableThatSomebodyHasAlteredIsRefusedToo() throws Exception {
    database.execute("ALTER TABLE lukko.queue ALTER COLUMN priority DROP NOT NULL");
    try (SkipLockedQueue ours = SkipLockedQueue.builder(database.dataSource(), "mail").build()) {
      assertThatThrownBy(() -> ours.enqueue(QueueJob.of("x")))
          .isInstanceOf(UnsuitableDatabaseException.class)
          .hasMessageContaining("priority may be null");
    }
  }
}
