package dev.lukko.scorecard.client;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Lukko on one server or several, extended in the background. */
final class LukkoLocks implements Locks {
  private final Redlock client;
  private final Duration ttl;
  private final Runnable lost;

  LukkoLocks(List<String> urls, Duration ttl, Runnable lost) {
    this.ttl = ttl;
    this.lost = lost;
    client = Redlock.builder().nodes(RedisNode.builder().connectAll(urls)).maxTtl(ttl).build();
  }

  @Override
  public Optional<Held> tryLock(String name) {
    return client.tryAcquire(request(name).build()).map(this::held);
  }

  @Override
  public Optional<Held> lock(String name, long waitMillis) {
    return client
        .tryAcquire(request(name).maxWait(Duration.ofMillis(waitMillis)).build())
        .map(this::held);
  }

  private LockRequest.Builder request(String name) {
    return LockRequest.builder(name).ttl(ttl).autoExtend(true);
  }

  private Held held(Lease lease) {
    lease.onLost(reason -> lost.run());
    return new Held() {
      @Override
      public void unlock() {
        lease.release();
      }

      @Override
      public Optional<Boolean> isHeld() {
        return Optional.of(lease.isValid());
      }

      @Override
      public Optional<Long> token() {
        return Optional.of(lease.fencingToken());
      }
    };
  }
}
