package dev.lukko.scorecard.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Spring Integration's registry on Redis, with renewal. */
final class SpringLocks implements Locks {
  private final RedisLockRegistry registry;

  SpringLocks(LettuceConnectionFactory connections, Duration ttl) {
    ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
    scheduler.initialize();
    registry = new RedisLockRegistry(connections, "scorecard", ttl);
    registry.setRenewalTaskScheduler(scheduler);
  }

  @Override
  public Optional<Held> tryLock(String name) {
    Lock lock = registry.obtain(name);
    return lock.tryLock() ? Optional.of(lock::unlock) : Optional.empty();
  }

  @Override
  public Optional<Held> lock(String name, long waitMillis) throws InterruptedException {
    Lock lock = registry.obtain(name);
    return lock.tryLock(waitMillis, TimeUnit.MILLISECONDS)
        ? Optional.of(lock::unlock)
        : Optional.empty();
  }
}
