package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.ClientClosedException;
import dev.lukko.ClientHealth;
import dev.lukko.Lease;
import dev.lukko.LockReport;
import dev.lukko.LockReport.NodeEntries;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import dev.lukko.scenario.Rig.Party;
import dev.lukko.testkit.FaultyNode.Fault;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a client can say of a lock and of its nodes. */
class InspectionTest {
  @RegisterExtension final Rig rig = Rig.of(3);

  @Test
  void aHeldLockIsReportedWithItsTokenAndItsEnd() {
    Lease lease =
        rig.client().acquire(LockRequest.builder(Rig.R).ttl(ms(1_000)).metadata("nightly").build());

    LockReport report = rig.party().client().inspect(Rig.R);

    assertThat(report.state()).isEqualTo(LockReport.State.HELD);
    LockReport.Acquisition holder = report.holders().get(0);
    assertThat(holder.votes()).isEqualTo(3);
    assertThat(holder.fencingToken()).hasValue(lease.fencingToken());
    assertThat(holder.remaining()).contains(ms(1_000));
    assertThat(holder.holder().description()).contains("nightly");
    assertThat(report.toString()).doesNotContain(lease.owner());
    lease.release();
    assertThat(rig.client().inspect(Rig.R).state()).isEqualTo(LockReport.State.FREE);
  }

  @Test
  void aHungNodeCostsItsAnswerOnly() {
    Party looking = rig.party(builder -> builder.nodeTimeout(ms(1)));
    Lease lease = rig.client().acquire(Rig.R, ms(1_000));
    looking.nodes().get(0).fault(Fault.LOSE_REQUESTS);

    LockReport report = looking.client().inspect(Rig.R);

    assertThat(report.answered()).isEqualTo(2);
    assertThat(report.state()).isEqualTo(LockReport.State.HELD);
    assertThat(report.nodes().get(0).detail()).isEqualTo("no answer within 1 ms");
    lease.release();
  }

  @Test
  void aNodeThatCannotBeReachedSaysWhy() {
    rig.main().nodes().get(1).fault(Fault.DOWN);

    NodeEntries answer = rig.client().inspect(Rig.R).nodes().get(1);

    assertThat(answer.answered()).isFalse();
    assertThat(answer.detail()).isNotEmpty();
  }

  @Test
  void healthTellsHowManyNodesMayFailYet() {
    Party party = rig.party(builder -> builder.nodeTimeout(ms(1)));
    assertThat(party.client().health().margin()).isEqualTo(1);
    assertThat(party.client().health().nodes())
        .allSatisfy(node -> assertThat(node.latency()).isPresent());

    party.nodes().get(0).fault(Fault.DOWN);
    party.nodes().get(1).fault(Fault.LOSE_REQUESTS);
    ClientHealth health = party.client().health();

    assertThat(health.margin()).isEqualTo(-1);
    assertThat(health.isAvailable()).isFalse();
    assertThat(health.nodes())
        .extracting(ClientHealth.Node::state)
        .containsExactly(
            ClientHealth.State.UNREACHABLE,
            ClientHealth.State.UNREACHABLE,
            ClientHealth.State.VOTING);
  }

  @Test
  void nodesCanBeLookedAtWithoutAClient() {
    Lease lease = rig.client().acquire(Rig.R, ms(1_000));

    assertThat(Redlock.inspect(rig.stores, Rig.R, ms(100)).state())
        .isEqualTo(LockReport.State.HELD);
    lease.release();
  }

  @Test
  void aBadNameAndAClosedClientAreRefused() {
    assertThatThrownBy(() -> rig.client().inspect(""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("resource");
    assertThatThrownBy(() -> Redlock.inspect(List.of(), "\n", ms(1)))
        .isInstanceOf(IllegalArgumentException.class);
    rig.client().close();
    assertThatThrownBy(() -> rig.client().inspect(Rig.R)).isInstanceOf(ClientClosedException.class);
    assertThatThrownBy(() -> rig.client().health()).isInstanceOf(ClientClosedException.class);
  }
}
