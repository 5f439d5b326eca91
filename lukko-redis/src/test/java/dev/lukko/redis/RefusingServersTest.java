package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.answer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.ReleaseOutcome;
import dev.lukko.redis.testing.ServerFault;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRow;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Servers that answer with errors: rows 32, 33, 34 and 38. */
class RefusingServersTest extends ScenarioTest {

  RefusingServersTest() {
    super(options -> {});
  }

  @FaultRow(32)
  @Test
  void row32_fullNodes_grantedWithTwoOfThemNotWithThreeAndUnlockWorks() {
    Redlock client = bed.client(LONG);
    Lease held = client.acquire("held", LONG);
    bed.first(2).forEach(ServerFault.OOM::inflict);
    ledger.close(ledger.acquire(client, atOnce(LONG)));
    ServerFault.OOM.inflict(bed.server(2));
    QuorumUnavailableException failure =
        failure(QuorumUnavailableException.class, client, atOnce(LONG));
    assertThat(failure.getMessage()).contains("failed, OOM: ");
    assertThat(held.release().status()).isEqualTo(ReleaseOutcome.Status.RELEASED);
    for (RedisServer server : bed.servers.all()) {
      await().until(() -> server.command("EXISTS", "lukko:{held}").equals(0L));
    }
    row(32, "two full servers: granted; three: not, as a failure of nodes; unlocking works on all");
  }

  @FaultRow(33)
  @Test
  void row33_busyScriptOnTwoNodes_grantedByTheOthersAndTheScriptIsLeftAlone() {
    Redlock client = bed.client(LONG);
    ledger.close(ledger.acquire(client, atOnce(LONG)));
    bed.first(2).forEach(ServerFault.BUSY::inflict);
    long start = System.nanoTime();
    Lease lease = ledger.acquire(client, atOnce(LONG));
    long took = (System.nanoTime() - start) / 1_000_000;
    ledger.close(lease);
    bed.first(2)
        .forEach(
            server -> {
              assertThat(ServerFault.errorOf(server)).as("still runs").startsWith("BUSY");
              bed.awaitTold(server, "BUSY: ");
              ServerFault.BUSY.end(server);
            });
    bed.awaitNoEntry();
    row(
        33,
        "two servers were busy with a script: granted by the others after "
            + took
            + " ms, the scripts went on");
  }

  @FaultRow(34)
  @Test
  void row34_serversThatRefuse_grantedAndEachReportedWithItsCause() {
    Redlock client = bed.client(LONG);
    ledger.close(ledger.acquire(client, atOnce(LONG)));
    List<ServerFault> faults =
        List.of(
            ServerFault.NOREPLICAS,
            ServerFault.READONLY,
            ServerFault.MASTERDOWN,
            ServerFault.MISCONF,
            ServerFault.LOADING);
    for (ServerFault fault : faults) {
      bed.events.clear();
      bed.first(2).forEach(fault::inflict);
      ledger.close(ledger.acquire(client, atOnce(LONG)));
      bed.first(2).forEach(server -> bed.awaitTold(server, fault + ": "));
      bed.first(2).forEach(fault::end);
      // available again, so that the next cause is a change
      await()
          .until(
              () -> {
                Lease lease = ledger.acquire(client, waiting(LONG));
                boolean everywhere =
                    lease.owner().equals(bed.ownerAt(0)) && lease.owner().equals(bed.ownerAt(1));
                ledger.close(lease);
                return everywhere;
              });
    }
    row(34, faults + " on two servers each: granted, and each reported with its own cause");
  }

  @FaultRow(38)
  @Test
  void row38_rightsLost_notCountedAsRefusedAndBackAfterTheRepair() {
    for (RedisServer server : bed.servers.all()) {
      server.command("ACL", "SETUSER", "lock", "on", ">pw", "~lukko:*", "&lukko:*", "+@all");
    }
    List<LockNode> nodes = bed.nodes("lock:pw@");
    Redlock client = bed.client(nodes, LONG, options -> {});
    ledger.close(ledger.acquire(client, atOnce(LONG)));

    onThree("ACL", "SETUSER", "lock", "-evalsha", "-eval");
    assertThat(failure(QuorumUnavailableException.class, client, atOnce(LONG)).getMessage())
        .contains("failed, NOPERM: ");
    onThree("ACL", "SETUSER", "lock", "+evalsha", "+eval");
    ledger.close(ledger.acquire(client, atOnce(LONG)));

    for (String[] change : List.of(new String[] {"resetpass", ">other"}, new String[] {"off"})) {
      for (String rule : change) {
        onThree("ACL", "SETUSER", "lock", rule);
      }
      bed.proxies.forEach(FaultProxy::resetConnections);
      for (int i = 0; i < 3; i++) {
        LockNode node = nodes.get(i);
        await().until(() -> answer(node.status()).detail().startsWith("WRONGPASS: "));
      }
      await().until(() -> nodes.get(3).toString().equals("RedisNode[" + nodes.get(3).name() + "]"));
      await().until(() -> nodes.get(4).toString().equals("RedisNode[" + nodes.get(4).name() + "]"));
      assertThat(failure(QuorumUnavailableException.class, client, atOnce(LONG)).getMessage())
          .contains("failed, WRONGPASS: ")
          .doesNotContain("pw");
      long start = System.nanoTime();
      onThree("ACL", "SETUSER", "lock", "on", ">pw");
      ledger.close(ledger.acquire(client, waiting(LONG)));
      row(
          38,
          String.join(" ", change)
              + ": WRONGPASS, not counted; after the repair granted again"
              + " within "
              + (System.nanoTime() - start) / 1_000_000
              + " ms");
    }
  }

  private void onThree(String... command) {
    bed.first(3).forEach(server -> server.command(command));
  }
}
