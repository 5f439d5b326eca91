package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.grant;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.redis.format.HashSlots;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.time.Duration;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A cluster that changes under a node: slots that move, and a master that is replaced. */
class ClusterChangesTest {
  private RedisServers servers;

  @BeforeEach
  void start() {
    servers = RedisServers.start(2, options -> options.config("cluster-enabled yes"));
    master().command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    master().command("CLUSTER", "MEET", "127.0.0.1", Integer.toString(other().port()));
    eventually().until(() -> nodes(other()).contains(id(master())) && ok(other()));
  }

  @AfterEach
  void stop() {
    servers.close();
  }

  private RedisServer master() {
    return servers.get(0);
  }

  private RedisServer other() {
    return servers.get(1);
  }

  private static ConditionFactory eventually() {
    return await().atMost(Duration.ofSeconds(60));
  }

  private static String id(RedisServer server) {
    return String.valueOf(server.command("CLUSTER", "MYID"));
  }

  private static String nodes(RedisServer server) {
    return String.valueOf(server.command("CLUSTER", "NODES"));
  }

  private static boolean ok(RedisServer server) {
    return String.valueOf(server.command("CLUSTER", "INFO")).contains("cluster_state:ok");
  }

  private RedisNode connect(RedisServer server) {
    return RedisNode.connect("redis-cluster://127.0.0.1:" + server.port());
  }

  @Test
  void slotThatMovesToAnotherServerIsFollowed() {
    try (RedisNode node = connect(master())) {
      granted(node, entry("x", "a"), 5);
      assertThat(release(node, entry("x", "a"))).isEqualTo(new ReleaseReply.Released());
      master().command("DEL", "lukko:{a}:token"); // an empty slot can be given away at once
      for (RedisServer server : servers.all()) {
        server.command("CLUSTER", "SETSLOT", "" + HashSlots.of("a"), "NODE", id(other()));
      }
      granted(node, entry("y", "a"), 6);
      assertThat(other().command("GET", "lukko:{a}")).isEqualTo("y");
      assertThat(release(node, entry("y", "a"))).isEqualTo(new ReleaseReply.Released());
    }
  }

  @Test
  void nodeFollowsAReplicaThatReplacesItsMaster() {
    other().command("CLUSTER", "REPLICATE", id(master()));
    eventually()
        .until(
            () ->
                String.valueOf(other().command("INFO", "replication"))
                    .contains("master_link_status:up"));
    // given only the replica, the node finds the master by it
    try (RedisNode node = connect(other())) {
      eventually().until(() -> grant(node, entry("x", "a"), 5) instanceof GrantReply.Granted);
      eventually().until(() -> nodes(master()).contains("slave"));
      other().command("CLUSTER", "FAILOVER");
      eventually()
          .until(
              () -> String.valueOf(other().command("INFO", "replication")).contains("role:master"));
      // what was replicated is still held, and its release arrives where the slot is now
      // (an attempt whose reply was lost in the change is made good later, and finds nothing again)
      eventually()
          .until(
              () -> {
                release(node, entry("x", "a"));
                return other().command("EXISTS", "lukko:{a}").equals(0L);
              });
      eventually().until(() -> grant(node, entry("y", "a"), 6) instanceof GrantReply.Granted);
      master().kill();
      assertThat(release(node, entry("y", "a"))).isEqualTo(new ReleaseReply.Released());
    }
  }
}
