package dev.lukko.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Leadership;
import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LossReason;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.LockInvariants;
import dev.lukko.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LeadershipTest {
  private static final Duration TTL = Duration.ofSeconds(3);

  @RegisterExtension final LockInvariants invariants = new LockInvariants();
  private final ManualTime time = invariants.time(new ManualTime());
  private final InMemoryNode store = new InMemoryNode("n1", time);
  private final List<Long> terms = new CopyOnWriteArrayList<>();
  private final List<LossReason> ends = new CopyOnWriteArrayList<>();

  private LockClient client(FaultyNode node) {
    return invariants.client(Redlock.builder().node(node).ticker(time).scheduler(time).build());
  }

  private Leadership candidate(LockClient client) {
    return Leadership.builder(client, "leader", TTL)
        .onElected(term -> terms.add(term.fencingToken()))
        .onLost(ends::add)
        .start();
  }

  @Test
  void leaderThatIsCutOffStepsDownAtItsDeadlineAndTheNextOneHasAHigherToken() {
    FaultyNode first = invariants.node(store);
    FaultyNode second = invariants.node(store);
    try (Leadership a = candidate(client(first));
        Leadership b = candidate(client(second))) {
      assertThat(a.isLeader()).isTrue();
      assertThat(b.isLeader()).isFalse();
      await().until(() -> terms.size() == 1);
      Lease term = a.term().orElseThrow();
      first.fault(FaultyNode.Fault.LOSE_REQUESTS);
      time.advance(TTL.minusMillis(32)); // The validity: 1 % of the ttl and 2 ms less.
      assertThat(a.isLeader()).isFalse();
      assertThat(term.isValid()).isFalse();
      await().until(() -> ends.equals(List.of(LossReason.EXPIRED)));
      time.advance(Duration.ofSeconds(2));
      assertThat(b.isLeader()).isTrue();
      await().until(() -> terms.size() == 2);
      assertThat(terms.get(1)).isGreaterThan(terms.get(0));
      first.heal();
    }
  }

  @Test
  void closingStepsDownOnceAndLetsTheNextOneLead() {
    Leadership a = candidate(client(invariants.node(store)));
    await().until(() -> terms.size() == 1);
    try (Leadership b = candidate(client(invariants.node(store)))) {
      a.close();
      a.close();
      assertThat(a.isLeader()).isFalse();
      await().until(() -> ends.equals(List.of(LossReason.RELEASED)));
      time.advance(Duration.ofSeconds(2));
      assertThat(b.isLeader()).isTrue();
      await().until(() -> terms.size() == 2);
    }
  }
}
