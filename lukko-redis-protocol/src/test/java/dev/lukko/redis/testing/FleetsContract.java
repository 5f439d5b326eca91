package dev.lukko.redis.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockEvent;
import dev.lukko.LockException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Clients that share servers, addresses that lead elsewhere, and different sets of nodes: never two
 * holders of one lock in a fleet, with any driver.
 */
public abstract class FleetsContract {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final LockRequest JOB =
      LockRequest.builder("job").ttl(LONG).maxWait(Duration.ZERO).build();

  private final List<AutoCloseable> open = new ArrayList<>();
  private RedisServers servers;

  /** A node of the driver under test. */
  protected abstract LockNode connect(String url);

  @BeforeEach
  void start() {
    servers = RedisServers.start(5);
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    servers.close();
  }

  private Redlock client(UnaryOperator<RedlockBuilder> settings, String... urls) {
    RedlockBuilder builder = Redlock.builder().releaseOnClose(false).retryCount(0);
    for (String url : urls) {
      builder.node(connect(url));
    }
    Redlock client = settings.apply(builder.nodeTimeout(Duration.ofSeconds(5))).build();
    open.add(0, client);
    return client;
  }

  private Redlock client(String... urls) {
    return client(builder -> builder, urls);
  }

  private FaultProxy proxy(int server) {
    FaultProxy proxy = FaultProxy.to(servers.get(server));
    open.add(proxy);
    return proxy;
  }

  private String url(int server) {
    return servers.get(server).url();
  }

  private static void assertRefused(Redlock client) {
    assertThatThrownBy(() -> client.acquire(JOB))
        .isInstanceOfAny(LockNotAcquiredException.class, QuorumUnavailableException.class);
  }

  /** Waits until a client has heard that a server is back, and has looked at it. */
  private void awaitBack(RedisServer server) {
    await().until(() -> "PONG".equals(String.valueOf(server.command("PING"))));
  }

  @Test
  void neighbourWithOneNodeDoesNotEndTheQuarantineOfAServerThatForgot() {
    FaultProxy c = proxy(2);
    Redlock holder = client(url(0), url(1), c.url("redis"));
    c.cut();
    Lease lease = holder.acquire(JOB);
    servers.get(0).restart();
    awaitBack(servers.get(0));
    try (Redlock neighbour = client(url(0))) {
      neighbour.acquire(LockRequest.builder("other").ttl(Duration.ofSeconds(9)).build()).release();
    }
    Redlock other = client(url(0), url(1), url(2));
    assertRefused(other);
    assertRefused(other);
    assertThat(lease.isValid()).isTrue();
    assertThat(servers.get(0).command("EXISTS", "lukko:{job}")).isEqualTo(0L);
  }

  @Test
  void laxNeighbourThatListsFewerOrOtherNodesDoesNotEndTheQuarantineOfStrictOnes() {
    Redlock first =
        client(b -> b.strict(true).maxTtl(Duration.ofMillis(200)), url(0), url(1), url(2));
    LockRequest brief =
        LockRequest.builder("job")
            .ttl(Duration.ofMillis(150))
            .maxWait(Duration.ofSeconds(30))
            .waitForQuorum(true)
            .build();
    first.acquire(brief).release();
    Redlock strict = client(b -> b.strict(true), url(0), url(1), url(2));
    servers.get(0).restart();
    awaitBack(servers.get(0));
    try (Redlock two = client(url(0), url(3));
        Redlock three = client(url(0), url(3), url(4))) {
      LockRequest other = LockRequest.builder("other").ttl(Duration.ofSeconds(9)).build();
      two.acquire(other).release();
      three.acquire(other).release();
    }
    Lease lease = strict.acquire(JOB);
    assertThat(lease.isValid()).isTrue();
    assertThat(servers.get(0).command("EXISTS", "lukko:{job}")).as("a vote").isEqualTo(0L);
  }

  @Test
  void addressThatMovesToAnotherMemberHasNoSecondVote() {
    FaultProxy moving = proxy(0);
    Redlock holder = client(url(0), url(1), url(2));
    Lease lease = holder.acquire(JOB);
    Redlock other = client(moving.url("redis"), url(1), url(2));
    assertRefused(other);
    servers.get(1).restart();
    awaitBack(servers.get(1));
    moving.leadTo(servers.get(1));
    moving.resetConnections();
    for (int i = 0; i < 5; i++) {
      assertRefused(other);
    }
    assertThat(lease.isValid()).isTrue();
    assertThat(servers.get(1).command("EXISTS", "lukko:{job}")).as("a vote").isEqualTo(0L);
    assertThat(lease.extend(LONG)).as("the holder goes on with two").isTrue();
  }

  @Test
  void extensionIsNotCountedTwiceAtOneServer() {
    FaultProxy moving = proxy(0);
    FaultProxy third = proxy(2);
    Redlock holder = client(moving.url("redis"), url(1), third.url("redis"));
    Lease lease = holder.acquire(JOB);
    third.cut();
    moving.leadTo(servers.get(1));
    moving.resetConnections();
    assertThat(lease.extend(LONG)).as("by one server, through two addresses").isFalse();
  }

  @Test
  void restartedServerWithItsDataIsExtendedAtWithoutAFailureAfterItsReturn() {
    servers.close();
    servers = RedisServers.start(1, RedisServer.Builder::appendOnly);
    Redlock client = client(url(0));
    Lease lease = client.acquire(JOB);
    servers.get(0).restart();
    await().until(() -> lease.extend(LONG));
    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void differentNodeSetsExcludeEachOtherAreToldAndRefusedInStrictMode() {
    List<LockEvent> told = new CopyOnWriteArrayList<>();
    Redlock three = client(url(0), url(1), url(2));
    Lease lease = three.acquire(JOB);
    UnaryOperator<RedlockBuilder> listening = builder -> builder.listener(told::add);
    Redlock five = client(listening, url(0), url(1), url(2), url(3), url(4));
    await().until(() -> told.stream().anyMatch(LockEvent.NodesDiffer.class::isInstance));
    assertThat(told)
        .filteredOn(LockEvent.NodesDiffer.class::isInstance)
        .singleElement()
        .isInstanceOfSatisfying(
            LockEvent.NodesDiffer.class,
            differ -> {
              assertThat(differ.size()).isEqualTo(3);
              assertThat(differ.nodes()).isEqualTo(5);
              assertThat(differ.surplus()).hasSize(2);
              assertThat(differ.lacking()).isEmpty();
            });
    assertRefused(five);
    lease.release();
    five.acquire(JOB);
    assertRefused(three);
    assertThatThrownBy(() -> client(b -> b.strict(true), url(0), url(1), url(2), url(3), url(4)))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("refused in strict mode")
        .hasMessageContaining("lists 5 nodes");
    told.clear();
    client(listening, url(1));
    await().until(() -> told.stream().anyMatch(LockEvent.FleetsOverlap.class::isInstance));
    assertThat(told).anySatisfy(event -> assertThat(event.toString()).contains("this node alone"));
    assertThatThrownBy(() -> client(b -> b.strict(true), url(2), url(3)))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("refused in strict mode")
        .hasMessageContaining("do not exclude each other");
  }

  @Test
  void newDeploymentVotesBeforeItsFirstLockIsAskedFor() {
    client(url(0), url(1), url(2), url(3), url(4));
    for (RedisServer server : servers.all()) {
      assertThat(String.valueOf(server.command("HVALS", "lukko:\u0001fleets")))
          .contains(" 0 voting");
    }
  }
}
