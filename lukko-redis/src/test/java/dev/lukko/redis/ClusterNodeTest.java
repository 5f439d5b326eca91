package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.extend;
import static dev.lukko.redis.testing.Requests.grant;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.refused;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.redis.format.HashSlots;
import dev.lukko.redis.testing.Requests;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A real Redis Cluster of three masters as one node. */
class ClusterNodeTest {
  private static final String[] RANGES = {"0 5460", "5461 10922", "10923 16383"};

  /** Each is in the slots of another master. */
  private static final String[] NAMES = {"b", "c", "a"};

  private static RedisServers servers;
  private RedisNode node;

  @BeforeAll
  static void start() {
    servers = RedisServers.start(3, options -> options.config("cluster-enabled yes"));
    for (int i = 0; i < 3; i++) {
      String[] range = RANGES[i].split(" ");
      servers.get(i).command("CLUSTER", "ADDSLOTSRANGE", range[0], range[1]);
      servers.get(0).command("CLUSTER", "MEET", "127.0.0.1", "" + servers.get(i).port());
    }
    for (RedisServer server : servers.all()) {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> String.valueOf(server.command("CLUSTER", "INFO")).contains("state:ok"));
    }
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  @BeforeEach
  void connect() {
    node = RedisNode.connect("redis-cluster://127.0.0.1:" + servers.get(0).port());
  }

  @AfterEach
  void close() {
    node.close();
  }

  @Test
  void namesOfThisTestAreSpreadOverTheMasters() {
    for (int i = 0; i < 3; i++) {
      int slot = HashSlots.of(NAMES[i]);
      String[] range = RANGES[i].split(" ");
      assertThat(slot).isBetween(Integer.parseInt(range[0]), Integer.parseInt(range[1]));
    }
  }

  @Test
  void verbsGoToTheMasterThatHasTheSlot() {
    for (int i = 0; i < 3; i++) {
      String name = NAMES[i];
      long counter = granted(node, entry("x", name), 5);
      assertThat(servers.get(i).command("GET", "lukko:{" + name + "}")).isEqualTo("x");
      assertThat(refused(node, entry("y", name), 5).counter()).isEqualTo(counter);
      assertThat(extend(node, entry("x", name), 50_000)).isEqualTo(new ExtendReply.Extended());
      assertThat(Requests.inspect(node, name).holders()).hasSize(1);
      assertThat(release(node, entry("x", name))).isEqualTo(new ReleaseReply.Released());
    }
    assertThat(node.toString()).doesNotContain("not connected");
  }

  @Test
  void resourcesWithOneTagAreLockedTogether() {
    granted(node, entry("x", "{order:7}:head", "{order:7}:lines"), 5);
    assertThat(release(node, entry("x", "{order:7}:head", "{order:7}:lines")))
        .isEqualTo(new ReleaseReply.Released());
  }

  @Test
  void resourcesOfSeveralSlotsAreRefusedWithTheRule() {
    String rule = "belong to different slots of the cluster; the names of resources";
    assertThat(((Failed) grant(node, entry("x", "a", "b"), 5)).detail())
        .contains("lukko:{a} and lukko:{b} " + rule);
    try (Redlock locks = Redlock.builder().nodes(List.of(node)).build()) {
      assertThatThrownBy(
              () -> locks.acquire(LockRequest.builder("a", "b").ttl(Duration.ofMinutes(1)).build()))
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContaining(rule);
    }
  }

  @Test
  void releaseOfAnyMasterWakesAWaiter() throws InterruptedException {
    for (String name : NAMES) {
      granted(node, entry("x", name), 5);
      CountDownLatch hints = new CountDownLatch(2); // subscribed, and released
      try (LockNode.Watch watch = node.watch(name, hints::countDown)) {
        assertThat(watch).isNotNull();
        await().until(() -> hints.getCount() < 2);
        release(node, entry("x", name));
        assertThat(hints.await(30, TimeUnit.SECONDS)).isTrue();
      }
    }
  }

  @Test
  void clusterIsOneNodeButNoMemberOfAQuorum() {
    try (Redlock locks = Redlock.builder().nodes(List.of(node)).build();
        Lease lease = locks.acquire(LockRequest.builder("c").ttl(Duration.ofMinutes(1)).build())) {
      assertThat(lease.isValid()).isTrue();
    }
    try (RedisServer other = RedisServer.start()) {
      RedisNode again = RedisNode.connect("redis-cluster://127.0.0.1:" + servers.get(1).port());
      List<RedisNode> two = List.of(again, RedisNode.connect(other.url()));
      assertThatThrownBy(() -> Redlock.builder().nodes(two).build())
          .isInstanceOf(LockException.class)
          .hasMessageContaining("belongs to a cluster");
    }
  }

  @Test
  void warningTellsWhatAFailoverCosts() {
    NodeStatus status = answer(node.status());
    assertThat(status.traits()).contains(NodeStatus.Trait.CLUSTER_MEMBER);
    assertThat(status.warnings()).anyMatch(warning -> warning.contains("two may then hold"));
  }

  @Test
  void plainAddressOfOneMasterNamesTheRemedy() {
    try (RedisNode plain = RedisNode.connect(servers.get(0).url())) {
      assertThat(((Failed) grant(plain, entry("x", NAMES[1]), 5)).detail())
          .startsWith("MOVED: ")
          .contains("write redis-cluster://");
      assertThat(((Failed) grant(plain, entry("x", "a", "b"), 5)).detail())
          .startsWith("CROSSSLOT: ")
          .contains("{tag}");
    }
  }

  @Test
  void serverWithoutClusterIsRefusedUnderAClusterAddress() {
    try (RedisServer alone = RedisServer.start();
        RedisNode wrong = RedisNode.connect("redis-cluster://127.0.0.1:" + alone.port())) {
      assertThatThrownBy(() -> Redlock.builder().nodes(List.of(wrong)).build())
          .isInstanceOf(LockException.class)
          .hasMessageContaining("it belongs to no cluster; write redis://");
    }
  }
}
