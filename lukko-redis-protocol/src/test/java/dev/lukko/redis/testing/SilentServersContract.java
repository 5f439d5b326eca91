package dev.lukko.redis.testing;

import static dev.lukko.redis.testing.Requests.TTL;
import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.extend;
import static dev.lukko.redis.testing.Requests.grant;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.has;
import static dev.lukko.redis.testing.Requests.release;
import static dev.lukko.redis.testing.Requests.repair;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import dev.lukko.testkit.HeldPacket;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What is left behind by servers and connections that are silent for a time and come back, whatever
 * the driver: nothing.
 */
public abstract class SilentServersContract {
  private static final Duration SOON = Duration.ofMillis(300);
  private static final Duration AGES = Duration.ofMinutes(10);

  private RedisServer server;
  private FaultProxy proxy;
  private MonitorTap tap;

  protected abstract LockNode connect(String url, Duration commandTimeout);

  @BeforeEach
  void start() {
    server = RedisServer.start();
    proxy = FaultProxy.to(server);
    try (LockNode node = connect(server.url(), AGES)) {
      await().until(() -> grant(node, entry("warm", "warm"), 1) instanceof GrantReply.Granted);
      repair(node, entry("warm", "warm"), TTL, 2); // a script that is not known is not applied late
      release(node, entry("warm", "warm"));
    }
    tap = MonitorTap.on(server);
  }

  @AfterEach
  void stop() {
    tap.close();
    proxy.close();
    server.close();
  }

  private static GrantRequest request(String owner, String resource) {
    return new GrantRequest(entry(owner, resource), TTL, 5);
  }

  /** More than a thousand, each of which may be granted when the server wakes. */
  @Test
  void noneOfVeryManyReleasesIsDroppedWhileTheServerHangs() {
    int leases = 1_500;
    try (LockNode node = connect(server.url(), Duration.ofSeconds(2))) {
      SoleFleet.admit(node);
      server.pause();
      List<CompletableFuture<GrantReply>> grants = new ArrayList<>();
      for (int i = 0; i < leases; i++) {
        grants.add(SoleFleet.grant(node, request("owner-" + i, "r" + i)).toCompletableFuture());
      }
      CompletableFuture.allOf(grants.toArray(CompletableFuture<?>[]::new)).join();
      await().until(() -> node.toString().contains("not connected"));
      for (int twice = 0; twice < 2; twice++) {
        for (int i = 0; i < leases; i++) {
          node.release(entry("owner-" + i, "r" + i));
        }
      }

      server.resume();

      await()
          .untilAsserted(
              () -> assertThat(server.command("EXISTS", "lukko:{r0}:token")).isEqualTo(1L));
      await().untilAsserted(() -> assertThat(entriesLeft(leases)).isEmpty());
    }
  }

  private List<String> entriesLeft(int leases) {
    List<String> left = new ArrayList<>();
    for (int i = 0; i < leases; i++) {
      if (server.command("EXISTS", "lukko:{r" + i + "}").equals(1L)) {
        left.add("r" + i);
      }
    }
    return left;
  }

  @Test
  void grantThatArrivesBehindTheAnswerToItsReleaseIsReleasedAgain() {
    try (LockNode node = connect(proxy.url("redis"), SOON)) {
      HeldPacket held = proxy.holdNext(Direction.TO_SERVER, has("owner-1"));
      assertThat(answer(SoleFleet.grant(node, request("owner-1", "r"))))
          .isInstanceOf(Unknown.class);
      node.release(entry("owner-1", "r"));
      await().until(() -> isSeen("owner-1"));

      held.release();

      await().until(() -> server.command("EXISTS", "lukko:{r}:token").equals(1L));
      await().until(() -> server.command("EXISTS", "lukko:{r}").equals(0L));
    }
  }

  @Test
  void repairThatArrivesBehindTheReleaseOfItsEntryIsReleasedAgain() {
    try (LockNode node = connect(proxy.url("redis"), SOON)) {
      granted(node, entry("owner-1", "r"), 5);
      server.command("DEL", "lukko:{r}", "lukko:{r}:token");
      HeldPacket held = proxy.holdNext(Direction.TO_SERVER, has("owner-1"));
      assertThat(answer(node.repair(entry("owner-1", "r"), TTL, 5, Long.MAX_VALUE)))
          .isInstanceOf(Unknown.class);
      tap.close();
      tap = MonitorTap.on(server);
      node.release(entry("owner-1", "r"));
      await().until(() -> isSeen("owner-1"));

      held.release();

      await().until(() -> server.command("EXISTS", "lukko:{r}:token").equals(1L));
      await().until(() -> server.command("EXISTS", "lukko:{r}").equals(0L));
    }
  }

  @Test
  void repairThatArrivesBehindItsLastMomentCreatesNothing() {
    try (LockNode node = connect(proxy.url("redis"), AGES)) {
      granted(node, entry("owner-1", "r"), 5);
      server.command("DEL", "lukko:{r}", "lukko:{r}:token");
      ExtendReply missing = extend(node, entry("owner-1", "r"), TTL);
      assertThat(missing).isInstanceOf(ExtendReply.Missing.class);
      long last = ((ExtendReply.Missing) missing).atMillis() + 100;
      HeldPacket held = proxy.holdNext(Direction.TO_SERVER, has("owner-1"));
      node.repair(entry("owner-1", "r"), TTL, 5, last);
      assertThat(held.arrival()).succeedsWithin(Requests.BOUND);
      tap.close();
      tap = MonitorTap.on(server);
      await().until(() -> serverMillis() > last);

      held.release();

      await().until(() -> isSeen("owner-1"));
      assertThat(server.command("EXISTS", "lukko:{r}", "lukko:{r}:token")).isEqualTo(0L);
    }
  }

  private long serverMillis() {
    List<?> time = (List<?>) server.command("TIME");
    return Long.parseLong(String.valueOf(time.get(0))) * 1_000
        + Long.parseLong(String.valueOf(time.get(1))) / 1_000;
  }

  private boolean isSeen(String owner) {
    return tap.requests().stream().anyMatch(line -> line.contains("\"" + owner + "\""));
  }

  @Test
  void connectReturnsWhenARequestHasGoneTheWholeWay() {
    server.command("SCRIPT", "FLUSH");
    tap.close();
    tap = MonitorTap.on(server);
    Object before = server.command("DBSIZE");
    try (LockNode node = connect(server.url(), AGES)) {
      assertThat(tap.requests()).anyMatch(line -> line.contains("\"EVAL\""));
      assertThat(server.command("DBSIZE")).isEqualTo(before);
      granted(node, entry("owner-1", "r"), 5);
      release(node, entry("owner-1", "r"));
    }
  }

  @Test
  void serverIsAskedOnANewConnectionLongBeforeTheCommandTimeoutOfOneThatIsDead() {
    try (LockNode node = connect(proxy.url("redis"), AGES)) {
      CompletableFuture<byte[]> lost = proxy.loseNextReply(has("owner-1"));
      assertThat(answer(SoleFleet.grant(node, request("owner-1", "r"))))
          .isInstanceOf(Unknown.class);
      assertThat(lost).succeedsWithin(Requests.BOUND);

      assertThat(grant(node, entry("other", "s"), 5)).isInstanceOf(GrantReply.Granted.class);
      assertThat(release(node, entry("owner-1", "r"))).isInstanceOf(ReleaseReply.Released.class);
      await().until(() -> proxy.openConnections() <= 1);
    }
  }

  @Test
  void connectionToAServerThatHangsIsKeptAndItsLateRepliesCount() {
    try (LockNode node = connect(proxy.url("redis"), AGES)) {
      SoleFleet.admit(node);
      long before = proxy.acceptedConnections();
      server.pause();
      CompletableFuture<GrantReply> grant =
          SoleFleet.grant(node, request("owner-1", "r")).toCompletableFuture();
      await().until(() -> proxy.acceptedConnections() > before);

      server.resume();

      assertThat(answer(grant)).isEqualTo(new GrantReply.Granted(5));
      assertThat(release(node, entry("owner-1", "r"))).isInstanceOf(ReleaseReply.Released.class);
    }
  }
}
