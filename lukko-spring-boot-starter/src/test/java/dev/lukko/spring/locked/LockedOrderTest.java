package dev.lukko.spring.locked;

import static dev.lukko.spring.Held.isHeld;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockBusyException;
import dev.lukko.LockClient;
import dev.lukko.annotation.Locked;
import dev.lukko.annotation.OnBusy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The lock among the other annotations of a method. */
class LockedOrderTest {
  private static final Duration TTL = Duration.ofSeconds(10);

  @Test
  void asyncMethodTakesTheLockInTheThreadThatRunsIt() {
    Contexts.with(Asynchronous.class, MemoryLocks.class)
        .run(
            context -> {
              LockClient locks = context.getBean(LockClient.class);
              Asynchronous bean = context.getBean(Asynchronous.class);
              CompletableFuture<String> running;
              try (Lease held = locks.acquire("work", TTL)) {
                running = bean.work(); // Would wait here, were the lock outside.
                assertThat(bean.began()).isFalse();
              }
              await().until(bean::began);
              assertThat(isHeld(locks, "work")).isTrue();
              assertThat(running).isNotDone();
              bean.finish().countDown();
              assertThat(running).succeedsWithin(TTL).isEqualTo("done");
              assertThat(isHeld(locks, "work")).isFalse();
            });
  }

  @Test
  void scheduledMethodRunsUnderItsLock() {
    Contexts.with(Periodic.class, MemoryLocks.class)
        .run(
            context -> {
              Periodic bean = context.getBean(Periodic.class);
              await().until(() -> bean.seen().size() > 1);
              assertThat(bean.seen()).containsOnly(true);
            });
  }

  @Test
  void eachRetryTakesTheLockAnew() {
    Contexts.with(Retried.class, MemoryLocks.class)
        .run(
            context -> {
              Retried bean = context.getBean(Retried.class);
              bean.work(null);
              assertThat(bean.tokens()).hasSize(3).doesNotHaveDuplicates();
            });
  }

  @Test
  void busyLockIsTriedAgainByTheRetry() {
    Contexts.with(Retried.class, MemoryLocks.class)
        .run(
            context -> {
              Retried bean = context.getBean(Retried.class);
              Lease held = context.getBean(LockClient.class).acquire("retried", TTL);
              bean.releaseLater(held);
              assertThatThrownBy(() -> bean.work(null)).hasMessage("again");
              assertThat(bean.tokens()).hasSize(2);
            });
  }

  @Test
  void cachedResultNeedsNoLockWhicheverOfCacheAndTransactionIsEnabledFirst() {
    for (Class<?> enabled : List.of(CacheFirst.class, TransactionFirst.class)) {
      Contexts.with(enabled, Database.class, MemoryLocks.class, Cached.class)
          .run(
              context -> {
                LockClient locks = context.getBean(LockClient.class);
                Cached bean = context.getBean(Cached.class);
                assertThat(bean.load(1)).isEqualTo("held in transaction 1");
                try (Lease held = locks.acquire("entry:1", TTL)) {
                  assertThat(bean.load(1)).isEqualTo("held in transaction 1");
                }
                try (Lease held = locks.acquire("entry:2", TTL)) {
                  assertThatThrownBy(() -> bean.load(2)).isInstanceOf(LockBusyException.class);
                }
                assertThat(bean.load(2)).isEqualTo("held in transaction 2");
              });
    }
  }

  @Test
  void listenerAfterTheCommitRunsUnderItsLock() {
    Contexts.with(Database.class, MemoryLocks.class, Listener.class)
        .run(
            context -> {
              LockClient locks = context.getBean(LockClient.class);
              Listener bean = context.getBean(Listener.class);
              context
                  .getBean(TransactionTemplate.class)
                  .executeWithoutResult(
                      status -> {
                        context.publishEvent(new Paid(1));
                        assertThat(bean.seen()).isEmpty();
                        assertThat(isHeld(locks, "paid")).isFalse();
                      });
              assertThat(bean.seen()).containsExactly(true);
              assertThat(isHeld(locks, "paid")).isFalse();
            });
  }

  record Paid(long id) {}

  @EnableAsync
  static class Asynchronous {
    private final CountDownLatch finish = new CountDownLatch(1);
    private volatile boolean began;

    public boolean began() {
      return began;
    }

    public CountDownLatch finish() {
      return finish;
    }

    @Async
    @Locked(key = "'work'", maxWait = "10s")
    public CompletableFuture<String> work() {
      began = true;
      return CompletableFuture.supplyAsync(
          () -> {
            try {
              finish.await();
            } catch (InterruptedException interrupt) {
              throw new IllegalStateException(interrupt);
            }
            return "done";
          });
    }
  }

  @EnableScheduling
  static class Periodic {
    private final List<Boolean> seen = new CopyOnWriteArrayList<>();
    private final LockClient locks;

    Periodic(LockClient locks) {
      this.locks = locks;
    }

    public List<Boolean> seen() {
      return seen;
    }

    @Scheduled(fixedDelay = 1)
    @Locked(key = "'periodic'", onBusy = OnBusy.SKIP)
    public void work() {
      seen.add(isHeld(locks, "periodic"));
    }
  }

  @EnableRetry
  static class Retried {
    private final List<Long> tokens = new CopyOnWriteArrayList<>();
    private volatile @Nullable Lease held;

    public List<Long> tokens() {
      return tokens;
    }

    public void releaseLater(Lease lease) {
      held = lease;
    }

    public @Nullable Lease held() {
      return held;
    }

    @Retryable(maxAttempts = 3, backoff = @Backoff(delay = 1))
    @Locked(key = "@retriedKey.name()", maxWait = "0s")
    public void work(@Nullable Lease lease) {
      tokens.add(lease.fencingToken());
      if (tokens.size() < 3) {
        throw new IllegalStateException("again");
      }
    }

    @Bean
    Key retriedKey() {
      return new Key(this);
    }
  }

  /** Names the lock, and frees it after the first attempt if somebody holds it. */
  static class Key {
    private final Retried retried;
    private final AtomicInteger asked = new AtomicInteger();

    Key(Retried retried) {
      this.retried = retried;
    }

    public String name() {
      Lease held = retried.held();
      if (asked.incrementAndGet() == 2 && held != null) {
        held.release();
      }
      return "retried";
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableCaching
  @EnableTransactionManagement
  static class CacheFirst {
    @Bean
    ConcurrentMapCacheManager caches() {
      return new ConcurrentMapCacheManager();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  @EnableCaching
  static class TransactionFirst {
    @Bean
    ConcurrentMapCacheManager caches() {
      return new ConcurrentMapCacheManager();
    }
  }

  static class Cached {
    private final LockClient locks;

    Cached(LockClient locks) {
      this.locks = locks;
    }

    @Cacheable("entries")
    @Transactional
    @Locked(key = "'entry:' + #id", maxWait = "0s")
    public String load(long id) {
      return (isHeld(locks, "entry:" + id) ? "held" : "free")
          + (TransactionSynchronizationManager.isActualTransactionActive()
              ? " in transaction "
              : " ")
          + id;
    }
  }

  static class Listener {
    private final List<Boolean> seen = new CopyOnWriteArrayList<>();
    private final LockClient locks;

    Listener(LockClient locks) {
      this.locks = locks;
    }

    public List<Boolean> seen() {
      return seen;
    }

    @TransactionalEventListener(phase = TransactionPhase.AFTER_COMMIT)
    @Locked(key = "'paid'")
    public void paid(Paid event) {
      seen.add(isHeld(locks, "paid"));
    }
  }
}
