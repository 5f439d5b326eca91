package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.answer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.redis.testing.FaultBed;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import dev.lukko.testkit.rows.FaultRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Servers that must not have a vote of their own: rows 35 and 36, and what only shows later. */
class UnfitServersTest extends ScenarioTest {
  private static final Duration T = Duration.ofSeconds(1);

  UnfitServersTest() {
    super(options -> {});
  }

  @FaultRow(35)
  @Test
  void row35_replica_refusedAtStartAndAfterItsPromotionQuarantined() {
    Redlock first = bed.client(LONG);
    Lease lease = ledger.acquire(first, waiting(LONG));
    try (RedisServer replica = RedisServer.start()) {
      replica.command("REPLICAOF", "127.0.0.1", Integer.toString(bed.server(0).port()));
      await().until(() -> lease.owner().equals(replica.command("GET", FaultBed.ENTRY)));
      List<LockNode> nodes = new ArrayList<>(bed.nodes(""));
      nodes.get(0).close();
      nodes.set(0, RedisNode.connect(replica.url()));
      assertThatThrownBy(() -> Redlock.builder().nodes(nodes).build())
          .isInstanceOf(LockException.class)
          .hasMessageContaining("127.0.0.1:" + replica.port())
          .hasMessageContaining("replica of 127.0.0.1:" + bed.server(0).port());

      bed.server(0).kill();
      replica.command("REPLICAOF", "NO", "ONE");
      bed.proxy(0).leadTo(replica);
      List<LockNode> after = bed.nodes("");
      Redlock second = bed.client(after, LONG, options -> {});
      await()
          .until(
              () ->
                  failure(LockNotAcquiredException.class, second, atOnce(LONG))
                      .getMessage()
                      .contains("quarantined for another"));
      ledger.close(lease);
      ledger.close(ledger.acquire(second, waiting(LONG)));
      assertThat(replica.command("EXISTS", FaultBed.ENTRY)).as("no vote").isEqualTo(0L);
      row(35, "a replica is refused at start; promoted in its master's place it is quarantined");
    }
  }

  @FaultRow(36)
  @Test
  void row36_oneServerTwiceOrAClusterNode_refusedAtStart() {
    RedisServer server = bed.server(0);
    assertRefused("the same server", server.url(), "redis://localhost:" + server.port());
    assertRefused("the same server", server.url(), bed.proxy(0).url("redis"));
    try (RedisServers clusters =
        RedisServers.start(1, options -> options.config("cluster-enabled yes"))) {
      assertRefused("belongs to a cluster", bed.server(1).url(), clusters.get(0).url());
    }
    row(36, "one server by two names, through a proxy, and a cluster node: refused at start");
  }

  private static void assertRefused(String cause, String one, String other) {
    List<RedisNode> nodes = RedisNode.connectAll(one, other);
    assertThatThrownBy(() -> Redlock.builder().nodes(nodes).build())
        .isInstanceOf(LockException.class)
        .hasMessageContaining(cause)
        .hasMessageContaining(other.substring("redis://".length()));
    assertThat(nodes.get(0).toString()).as("closed with the failed client").contains("not");
  }

  @FaultRow(36)
  @Test
  void serverThatWasDownAtTheStartAndTurnsOutToBeAnotherNodeNeverVotes() {
    bed.proxy(1).leadTo(bed.server(0));
    bed.proxy(1).cut();
    List<LockNode> five = bed.nodes("");
    Redlock client = bed.client(five, T, options -> {});
    bed.server(0).restart(); // under a new run id, before it is reached by its second name
    ledger.close(ledger.acquire(client, waiting(T)));
    bed.proxy(1).heal();
    await().until(() -> !five.get(1).toString().contains("not connected"));
    bed.server(2).kill();
    bed.server(3).kill();
    for (int i = 0; i < 5; i++) {
      QuorumUnavailableException failure =
          failure(QuorumUnavailableException.class, client, atOnce(T));
      assertThat(failure.getMessage()).contains("the same server as " + five.get(0).name());
    }
  }

  @Test
  void clusterNodeThatWasDownAtTheStartNeverVotes() {
    try (RedisServer cluster = RedisServer.builder().config("cluster-enabled yes").start()) {
      cluster.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
      bed.proxy(1).leadTo(cluster);
      bed.proxy(1).cut();
      List<LockNode> three = bed.nodes("").subList(0, 3);
      Redlock client = bed.client(three, LONG, options -> {});
      ledger.close(ledger.acquire(client, waiting(LONG)));
      bed.proxy(1).heal();
      await().until(() -> !three.get(1).toString().contains("not connected"));
      bed.server(2).kill();
      assertThat(failure(QuorumUnavailableException.class, client, atOnce(LONG)).getMessage())
          .contains("belongs to a cluster");
    }
  }

  @Test
  void addressThatIsLedToAnotherMemberGivesNoSecondVote() {
    await().until(() -> bed.servers.all().stream().allMatch(server -> uptimeSeconds(server) >= 3));
    List<LockNode> three = bed.nodes("").subList(0, 3);
    Redlock client = bed.client(three, LONG, options -> {});
    ledger.close(ledger.acquire(client, waiting(LONG)));
    bed.proxy(1).leadTo(bed.server(0));
    bed.proxy(1).resetConnections();
    await().until(() -> answer(three.get(1).status()).detail().contains("another server"));
    bed.server(2).kill();
    assertThat(failure(QuorumUnavailableException.class, client, atOnce(LONG)).getMessage())
        .contains("another server answers at this address");
    bed.proxy(1).leadTo(bed.server(1));
    ledger.close(ledger.acquire(client, waiting(LONG)));
  }

  private static long uptimeSeconds(RedisServer server) {
    return String.valueOf(server.command("INFO", "server"))
        .lines()
        .filter(line -> line.startsWith("uptime_in_seconds:"))
        .mapToLong(line -> Long.parseLong(line.substring(18)))
        .sum();
  }
}
