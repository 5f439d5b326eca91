package dev.lukko.scorecard.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's locks without a lease time, so that the watchdog extends them; its time is the ttl.
 */
final class RedissonLocks implements Locks {

  /** Which of its locks. */
  enum Kind {
    PLAIN,
    FENCED,
    QUORUM
  }

  private final Kind kind;
  private final List<RedissonClient> clients = new ArrayList<>();

  RedissonLocks(Kind kind, List<String> urls, Duration ttl) {
    this.kind = kind;
    for (String url : urls) {
      Config config = new Config();
      config.setLockWatchdogTimeout(ttl.toMillis());
      config.useSingleServer().setAddress(url);
      clients.add(Redisson.create(config));
    }
  }

  @SuppressWarnings("deprecation") // Its authors advise against it; the row is about it.
  private RLock named(String name) {
    RedissonClient first = clients.get(0);
    return switch (kind) {
      case PLAIN -> first.getLock(name);
      case FENCED -> first.getFencedLock(name);
      case QUORUM ->
          new RedissonRedLock(
              clients.stream().map(client -> client.getLock(name)).toArray(RLock[]::new));
    };
  }

  @Override
  public Optional<Held> tryLock(String name) {
    RLock lock = named(name);
    return lock.tryLock() ? Optional.of(held(lock)) : Optional.empty();
  }

  @Override
  public Optional<Held> lock(String name, long waitMillis) throws InterruptedException {
    RLock lock = named(name);
    return lock.tryLock(waitMillis, TimeUnit.MILLISECONDS)
        ? Optional.of(held(lock))
        : Optional.empty();
  }

  private Held held(RLock lock) {
    Optional<Long> token =
        lock instanceof RFencedLock fenced ? Optional.of(fenced.getToken()) : Optional.empty();
    return new Held() {
      @Override
      public void unlock() {
        lock.unlock();
      }

      @Override
      public Optional<Boolean> isHeld() {
        return Optional.of(lock.isHeldByCurrentThread());
      }

      @Override
      public Optional<Long> token() {
        return token;
      }
    };
  }
}
