package dev.lukko.spring.locked;

import static dev.lukko.spring.Held.isHeld;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockBusyException;
import dev.lukko.LockClient;
import dev.lukko.annotation.Locked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The lock is released after the commit or rollback of what it protects. */
class LockedTransactionTest {
  private final ApplicationContextRunner application =
      Contexts.with(Database.class, MemoryLocks.class, Ledger.class);

  @Test
  void lockIsTakenBeforeTheMethodsTransactionAndReleasedAfterItsCommit() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Ledger ledger = context.getBean(Ledger.class);
          List<Boolean> heldAfterCommit = new ArrayList<>();
          ledger.post(
              1,
              lease ->
                  TransactionSynchronizationManager.registerSynchronization(
                      new TransactionSynchronization() {
                        @Override
                        public void afterCompletion(int status) {
                          heldAfterCommit.add(isHeld(locks, "ledger"));
                        }
                      }),
              null);
          assertThat(heldAfterCommit).containsExactly(true);
          assertThat(isHeld(locks, "ledger")).isFalse();
          assertThat(count(context.getBean(JdbcTemplate.class))).isEqualTo(1);
        });
  }

  @Test
  void busyLockBeginsNoTransaction() {
    application.run(
        context -> {
          Ledger ledger = context.getBean(Ledger.class);
          try (Lease held =
              context.getBean(LockClient.class).acquire("ledger", Duration.ofSeconds(10))) {
            assertThatThrownBy(() -> ledger.post(1, lease -> {}, null))
                .isInstanceOf(LockBusyException.class);
          }
          assertThat(count(context.getBean(JdbcTemplate.class))).isZero();
        });
  }

  @Test
  void transactionOfTheCallerKeepsTheLockToItsEnd() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Ledger ledger = context.getBean(Ledger.class);
          context
              .getBean(TransactionTemplate.class)
              .executeWithoutResult(
                  status -> {
                    ledger.post(1, lease -> {}, null);
                    assertThat(isHeld(locks, "ledger")).isTrue();
                  });
          assertThat(isHeld(locks, "ledger")).isFalse();
        });
  }

  @Test
  void rollbackOfTheCallersTransactionReleasesTheLock() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Ledger ledger = context.getBean(Ledger.class);
          assertThatThrownBy(
                  () ->
                      context
                          .getBean(TransactionTemplate.class)
                          .executeWithoutResult(
                              status -> {
                                ledger.post(1, lease -> {}, null);
                                throw new IllegalStateException("no");
                              }))
              .hasMessage("no");
          assertThat(isHeld(locks, "ledger")).isFalse();
          assertThat(count(context.getBean(JdbcTemplate.class))).isZero();
        });
  }

  @Test
  void transactionThatHoldsTheLockMayCallTheMethodAgain() {
    application.run(
        context -> {
          Ledger ledger = context.getBean(Ledger.class);
          List<Lease> leases = new ArrayList<>();
          context
              .getBean(TransactionTemplate.class)
              .executeWithoutResult(
                  status -> {
                    ledger.post(1, leases::add, null);
                    ledger.post(2, leases::add, null);
                  });
          assertThat(leases).hasSize(2);
          assertThat(leases.get(0)).isSameAs(leases.get(1));
          assertThat(count(context.getBean(JdbcTemplate.class))).isEqualTo(2);
        });
  }

  @Test
  void transactionIsNotCommittedWhenItsLeaseIsGone() {
    application.run(
        context -> {
          Ledger ledger = context.getBean(Ledger.class);
          List<Lease> leases = new ArrayList<>();
          assertThatThrownBy(
                  () ->
                      context
                          .getBean(TransactionTemplate.class)
                          .executeWithoutResult(
                              status -> {
                                ledger.post(1, leases::add, null);
                                leases.get(0).release();
                              }))
              .isInstanceOf(LeaseLostException.class);
          assertThat(count(context.getBean(JdbcTemplate.class))).isZero();
        });
  }

  @Test
  void methodWithATransactionOfItsOwnIsReleasedAtItsEnd() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Ledger ledger = context.getBean(Ledger.class);
          context
              .getBean(TransactionTemplate.class)
              .executeWithoutResult(
                  status -> {
                    ledger.postApart(1);
                    assertThat(isHeld(locks, "apart")).isFalse();
                  });
        });
  }

  private static int count(JdbcTemplate jdbc) {
    return jdbc.queryForObject("SELECT COUNT(*) FROM posted", Integer.class);
  }

  static class Ledger {
    private final JdbcTemplate jdbc;

    Ledger(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    @Locked(key = "'ledger'", maxWait = "0s")
    @Transactional
    public void post(long id, Consumer<Lease> within, @Nullable Lease lease) {
      within.accept(lease);
      jdbc.update("INSERT INTO posted VALUES (?)", id);
    }

    @Locked(key = "'apart'", maxWait = "0s")
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void postApart(long id) {
      jdbc.update("INSERT INTO posted VALUES (?)", id);
    }
  }
}
