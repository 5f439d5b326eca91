package dev.lukko.compat;

import static dev.lukko.redis.testing.Requests.BOUND;
import static dev.lukko.redis.testing.Requests.TTL;
import static dev.lukko.redis.testing.Requests.admitted;
import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.extend;
import static dev.lukko.redis.testing.Requests.grant;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.reader;
import static dev.lukko.redis.testing.Requests.refused;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.ReleaseReply.Released;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import dev.lukko.testkit.RedisServer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What of a node depends on its driver: requests and replies of each form, hints, and what happens
 * to connections that break or are silent. The whole contract is run with the newest driver.
 */
@Tag("driver-line")
abstract class DriverLineContract {
  private RedisServer server;

  /** A node of the driver under test, which gives up a silent connection after a second. */
  abstract LockNode connect(String url);

  @BeforeEach
  void start() {
    server = RedisServer.start();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void lockIsGrantedRefusedExtendedAndReleased() {
    try (LockNode node = connect(server.url())) {
      assertThat(granted(node, entry("a", "r"), 1)).isEqualTo(1);
      assertThat(refused(node, entry("b", "r"), 1).counter()).isEqualTo(1);
      assertThat(extend(node, entry("a", "r"), TTL)).isInstanceOf(ExtendReply.Extended.class);
      assertThat(extend(node, entry("b", "r"), TTL)).isInstanceOf(ExtendReply.HeldByOther.class);
      assertThat(release(node, entry("a", "r"))).isInstanceOf(Released.class);
      assertThat(granted(node, entry("b", "r"), 1)).isEqualTo(2);
    }
  }

  @Test
  void readersShareAndKeepAWriterOut() {
    try (LockNode node = connect(server.url())) {
      granted(node, reader("a", "r"), 1);
      granted(node, reader("b", "r"), 1);
      release(node, reader("a", "r"));
      refused(node, entry("c", "r"), 1);
      release(node, reader("b", "r"));
      granted(node, entry("c", "r"), 1);
    }
  }

  @Test
  void waitersAreServedInTheirOrder() {
    try (LockNode node = connect(server.url())) {
      granted(node, entry("holder", "r"), 1);
      assertThat(queue(node, "first", 10)).isInstanceOf(Refused.class);
      assertThat(queue(node, "second", 20)).isInstanceOf(Refused.class);
      release(node, entry("holder", "r"));
      assertThat(queue(node, "second", 20)).isInstanceOf(Refused.class);
      assertThat(queue(node, "first", 10)).isInstanceOf(Granted.class);
    }
  }

  private static GrantReply queue(LockNode node, String owner, long order) {
    FairTicket ticket = new FairTicket("waiter-" + owner, order, TTL);
    return grant(node, new GrantRequest(entry(owner, "r"), TTL, 1, ticket));
  }

  @Test
  void releaseWakesThoseWhoWatchEvenAfterTheirConnectionBroke() throws Exception {
    AtomicInteger hints = new AtomicInteger();
    try (FaultProxy proxy = FaultProxy.to(server);
        LockNode watching = connect(proxy.url("redis"));
        LockNode node = connect(server.url())) {
      assertThat(watching.capabilities()).contains(Capability.WATCH);
      try (LockNode.Watch watch = watching.watch("r", hints::incrementAndGet)) {
        awaitHint(node, hints);
        proxy.resetConnections();
        awaitHint(node, hints);
      }
    }
  }

  private static void awaitHint(LockNode node, AtomicInteger hints) {
    int before = hints.get();
    await()
        .until(
            () -> {
              granted(node, entry("a", "r"), 1);
              release(node, entry("a", "r"));
              return hints.get() > before;
            });
  }

  @Test
  void nodeComesBackEachTimeThatItsConnectionBreaks() {
    try (FaultProxy proxy = FaultProxy.to(server);
        LockNode node = admitted(connect(proxy.url("redis")))) {
      for (int time = 1; time <= 3; time++) {
        var broken = proxy.resetAtNextReply(request -> true);
        assertThat(grant(node, entry("lost" + time, "lost" + time), 1))
            .isInstanceOf(NodeFault.class);
        assertThat(broken).succeedsWithin(BOUND);
        awaitGrant(node, "r" + time);
      }
    }
  }

  @Test
  void connectionThatIsSilentIsGivenUp() {
    try (FaultProxy proxy = FaultProxy.to(server);
        LockNode node = admitted(connect(proxy.url("redis")))) {
      granted(node, entry("a", "r"), 1);
      long before = proxy.acceptedConnections();
      proxy.hold(Direction.TO_CLIENT);
      assertThat(answer(node.extend(entry("a", "r"), TTL))).isInstanceOf(NodeFault.class);
      await().until(() -> proxy.acceptedConnections() > before);
      proxy.heal();
      awaitGrant(node, "r2");
    }
  }

  private static void awaitGrant(LockNode node, String resource) {
    await().until(() -> grant(node, entry("a", resource), 1) instanceof Granted);
  }
}
