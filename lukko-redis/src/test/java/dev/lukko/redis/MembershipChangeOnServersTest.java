package dev.lukko.redis;

import dev.lukko.redis.testing.MembershipChangeContract;
import dev.lukko.redlock.MembershipChange;
import dev.lukko.spi.LockNode;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.List;

class MembershipChangeOnServersTest extends MembershipChangeContract {

  @Override
  protected LockNode connect(String url) {
    return RedisNode.connect(url);
  }

  /** What the page of fleets shows. */
  static void change(List<RedisNode> former, List<RedisNode> next) {
    // begin membership-change
    try (Scheduler timers = Scheduler.create("change")) {
      MembershipChange.builder()
          .nodes(former)
          .to(next)
          .maxTtl(Duration.ofMinutes(5))
          .scheduler(timers)
          .progress(System.out::println)
          .build()
          .run();
    }
    // end membership-change
  }
}
