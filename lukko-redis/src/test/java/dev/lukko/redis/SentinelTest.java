package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.redis.testing.Requests;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A master, its replica and a Sentinel, all real: one node, which a failover moves. */
class SentinelTest {
  private RedisServer master;
  private RedisServer replica;
  private RedisServer sentinel;

  @BeforeEach
  void start() {
    master = RedisServer.builder().config("repl-diskless-sync-delay 0").start();
    replica = RedisServer.builder().config("replicaof 127.0.0.1 " + master.port()).start();
    eventually().until(() -> info(replica).contains("master_link_status:up"));
    sentinel =
        RedisServer.builder()
            .sentinel()
            .config(
                "sentinel monitor main 127.0.0.1 " + master.port() + " 1",
                "sentinel down-after-milliseconds main 300",
                "sentinel failover-timeout main 5000")
            .start();
    eventually().until(() -> String.valueOf(sentinel.command("INFO")).contains("slaves=1"));
  }

  @AfterEach
  void stop() {
    sentinel.close();
    replica.close();
    master.close();
  }

  private static ConditionFactory eventually() {
    return await().atMost(Duration.ofSeconds(60));
  }

  private static String info(RedisServer server) {
    return String.valueOf(server.command("INFO", "replication"));
  }

  private String url() {
    // one Sentinel of the two is not there
    return "redis-sentinel://127.0.0.1:"
        + FreePort.find()
        + ",127.0.0.1:"
        + sentinel.port()
        + "?sentinelMasterId=main";
  }

  @Test
  void nodeFollowsAFailoverAndSaysThatItHasForgotten() {
    try (RedisNode node = RedisNode.connect(url());
        Redlock locks =
            Redlock.builder().nodes(List.of(node)).maxTtl(Duration.ofMinutes(5)).build()) {
      assertThat(node.name()).startsWith("main by Sentinel 127.0.0.1:");
      NodeStatus before = answer(node.status());
      assertThat(before.state()).isIn(State.UNMARKED, State.VOTING);
      assertThat(before.warnings()).anyMatch(warning -> warning.contains("two may then hold"));
      Lease lease = locks.acquire(LockRequest.builder("r").ttl(Duration.ofMinutes(5)).build());
      eventually().until(() -> lease.owner().equals(replica.command("GET", "lukko:{r}")));

      master.kill();
      eventually().until(() -> info(replica).contains("role:master"));
      eventually().until(() -> answer(node.status()).identity().isPresent());
      NodeStatus after = answer(node.status());
      assertThat(after.identity()).isNotEqualTo(before.identity());
      assertThat(after.state()).as("its record names the former run").isEqualTo(State.RESTARTED);
      // a single node that has forgotten is taken for a new deployment, as after any restart
      try (Lease second =
          locks.acquire(
              LockRequest.builder("s")
                  .ttl(Duration.ofMinutes(1))
                  .maxWait(Duration.ofSeconds(30))
                  .build())) {
        assertThat(second.fencingToken()).isPositive();
      }
      assertThat(replica.command("GET", "lukko:{r}")).isEqualTo(lease.owner());
    }
  }

  @Test
  void failoverLosesWhatTheReplicaHadNotGot() {
    try (RedisNode node = RedisNode.connect(url())) {
      Requests.admit(node);
      granted(node, entry("first", "known"), 5);
      eventually().until(() -> "first".equals(replica.command("GET", "lukko:{known}")));
      replica.command("REPLICAOF", "127.0.0.1", Integer.toString(FreePort.find())); // cut off
      granted(node, entry("first", "late"), 5);
      master.kill();
      replica.command("REPLICAOF", "NO", "ONE");
      eventually().until(() -> !node.toString().contains("not connected"));
      Requests.admit(node);
      assertThat(Requests.refused(node, entry("second", "known"), 6)).isNotNull();
      granted(node, entry("second", "late"), 6); // two holders: what the warning is about
    }
  }

  @Test
  void strictClientRefusesSentinel() {
    try (RedisNode node = RedisNode.connect(url())) {
      assertThatThrownBy(() -> Redlock.builder().nodes(List.of(node)).strict(true).build())
          .isInstanceOf(LockException.class)
          .hasMessageContaining("refused in strict mode: its address comes from Sentinel");
    }
  }

  @Test
  void sentinelMayHaveALoginOfItsOwn(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("password"), "guarded\n");
    try (RedisServer guarded =
        RedisServer.builder()
            .sentinel()
            .password("guarded")
            .config("sentinel monitor main 127.0.0.1 " + master.port() + " 1")
            .start()) {
      String url = "redis-sentinel://127.0.0.1:" + guarded.port() + "?sentinelMasterId=main";
      try (RedisNode without = RedisNode.connect(url);
          RedisNode byUrl = RedisNode.connect(url + "&sentinelPasswordFile=" + file);
          RedisNode byBuilder = RedisNode.builder().sentinelLogin(null, file).connect(url)) {
        assertThat(answer(without.status()).detail()).contains("NOAUTH");
        Requests.admit(byUrl);
        granted(byUrl, entry("a", "r"), 5);
        assertThat(Requests.refused(byBuilder, entry("b", "r"), 6)).isNotNull();
      }
    }
  }

  @Test
  void unknownMasterIsNamedWithWhatEachSentinelSaid() {
    int nobody = FreePort.find();
    String url =
        "redis-sentinel://127.0.0.1:"
            + nobody
            + ",127.0.0.1:"
            + sentinel.port()
            + "?sentinelMasterId=mian";
    try (RedisNode node = RedisNode.connect(url)) {
      assertThat(answer(node.status()).detail())
          .contains("127.0.0.1:" + nobody + ": connection refused")
          .contains("127.0.0.1:" + sentinel.port() + ": it does not know a master named mian");
    }
  }
}
