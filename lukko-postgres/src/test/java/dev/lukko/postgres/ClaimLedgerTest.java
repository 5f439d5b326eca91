package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.postgres.PostgresServer.Database;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresServer.Shared.class)
class ClaimLedgerTest {
  private static final long SECOND = 1_000_000_000;

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong others = new AtomicLong();
  private ClaimLedger ledger;
  private ClaimLedger other;

  @BeforeEach
  void open(Database database) {
    ledger = new ClaimLedger(database.dataSource(), "lukko", "mail", "ours", nanos::get);
    other = new ClaimLedger(database.dataSource(), "lukko", "mail", "theirs", others::get);
  }

  @AfterEach
  void close() {
    ledger.close();
    other.close();
  }

  private long claimAndFinish(long row) throws Exception {
    long claim = ledger.record(List.of(row)).claimId();
    ledger.remove(claim);
    return claim;
  }

  @Test
  void looksBeginWhereTheOldestEntryWasAWhileAgoSoThatTheDeadAreNotSteppedOver() throws Exception {
    long first = claimAndFinish(1);
    assertThat(ledger.from()).isZero();
    nanos.addAndGet(SECOND);
    long second = claimAndFinish(2);
    assertThat(ledger.from()).as("not yet").isZero();
    nanos.addAndGet(SECOND);
    claimAndFinish(3);
    assertThat(ledger.from()).isEqualTo(first);
    nanos.addAndGet(SECOND);
    claimAndFinish(4);
    assertThat(ledger.from()).isGreaterThanOrEqualTo(second);
  }

  @Test
  void entryOfADeadWorkerIsFoundHoweverLateAndHoldsTheBeginningBack() throws Exception {
    long dead = other.record(List.of(7L, 8L)).claimId(); // And never a word more.
    for (int i = 0; i < 10; i++) {
      claimAndFinish(100 + i);
      nanos.addAndGet(SECOND);
    }
    assertThat(ledger.from()).isLessThanOrEqualTo(dead);
    assertThat(ledger.record(List.of(8L, 9L)).crashes()).isEqualTo(Map.of(8L, 1));
  }
}
