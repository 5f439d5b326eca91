package dev.lukko.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.lukko.LockEvent;
import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.NodeStatus.Trait;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What nodes tell of themselves, and what their clients make of it. */
class NodeIdentityTest {
  private static final LockRequest AT_ONCE =
      LockRequest.builder("r").ttl(Duration.ofSeconds(30)).maxWait(Duration.ZERO).build();

  private final TellingNode one = new TellingNode("one");
  private final TellingNode two = new TellingNode("two");
  private final TellingNode three = new TellingNode("three");

  private RedlockBuilder builder() {
    return Redlock.builder().nodes(List.of(one, two, three));
  }

  @Test
  void clusterMemberIsRefusedAsOneOfSeveralNodesAndTakenAsTheOnlyOne() {
    two.traits = Set.of(Trait.CLUSTER_MEMBER);
    assertThatThrownBy(() -> builder().build())
        .isInstanceOf(LockException.class)
        .hasMessageContaining("node two")
        .hasMessageContaining("cluster");
    try (Redlock alone = Redlock.over(two)) {
      assertThat(alone.acquire(AT_ONCE).isValid()).isTrue();
    }
  }

  @Test
  void nodeWithoutAnIdentityOfItsOwnCountsAndIsWarnedOfAndRefusedInStrictMode() {
    two.traits = Set.of(Trait.UNIDENTIFIED);
    List<LockEvent> events = new CopyOnWriteArrayList<>();
    try (Redlock client = builder().listener(events::add).build()) {
      one.state = State.UNREACHABLE;
      assertThat(client.acquire(AT_ONCE).isValid()).isTrue();
      await()
          .untilAsserted(
              () ->
                  assertThat(events)
                      .filteredOn(LockEvent.NodeWarned.class::isInstance)
                      .singleElement()
                      .asString()
                      .contains("two", "no identity"));
    }
    one.state = State.VOTING;
    assertThatThrownBy(() -> builder().strict(true).build())
        .isInstanceOf(LockException.class)
        .hasMessageContaining("node two")
        .hasMessageContaining("no identity");
    try (Redlock alone = Redlock.builder().node(two).strict(true).build()) {
      assertThat(alone.acquire(AT_ONCE).isValid()).as("it cannot vote twice").isTrue();
    }
  }

  @Test
  void forgetfulNodeIsRefusedInStrictModeOnlyIfQuarantineIsOff() {
    two.traits = Set.of(Trait.FORGETFUL);
    builder().strict(true).build().close();
    builder().quarantine(false).build().close();
    assertThatThrownBy(() -> builder().strict(true).quarantine(false).build())
        .isInstanceOf(LockException.class)
        .hasMessageContaining("node two")
        .hasMessageContaining("persists nothing");
  }

  @Test
  void nodeDownAtTheStartThatIsAnotherOneUnderItsPresentIdentityNeverVotes() {
    two.state = State.UNREACHABLE;
    three.fault = "OOM: full";
    try (Redlock client = builder().build()) {
      one.identity = "restarted since";
      two.identity = "restarted since";
      two.state = State.VOTING;
      QuorumUnavailableException failure =
          catchThrowableOfType(QuorumUnavailableException.class, () -> client.acquire(AT_ONCE));
      assertThat(failure).hasMessageContaining("two: failed").hasMessageContaining("as one;");
      assertThat(two.grants).isZero();
      two.identity = "two after all";
      assertThat(client.acquire(AT_ONCE).isValid()).isTrue();
    }
  }

  @Test
  void clusterMemberThatWasDownAtTheStartNeverVotes() {
    two.state = State.UNREACHABLE;
    three.fault = "OOM: full";
    try (Redlock client = builder().build()) {
      two.traits = Set.of(Trait.CLUSTER_MEMBER);
      two.state = State.VOTING;
      assertThatThrownBy(() -> client.acquire(AT_ONCE))
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContaining("belongs to a cluster");
      assertThat(two.grants).isZero();
    }
  }

  @Test
  void listenersHearOfANewKindOfFaultAndNotOfTheSameInOtherWords() {
    List<String> told = new CopyOnWriteArrayList<>();
    try (Redlock client =
        builder()
            .listener(
                event -> {
                  if (event instanceof LockEvent.NodeStateChanged changed) {
                    told.add(changed.node() + " " + changed.available() + " " + changed.detail());
                  }
                })
            .build()) {
      for (String fault :
          new String[] {
            "OOM: full",
            "OOM: fuller",
            "BUSY: a script",
            null,
            Failed.WITHDRAWN + ": released meanwhile",
            "OOM: full"
          }) {
        two.fault = fault;
        client.acquire(AT_ONCE).close();
      }
      await()
          .untilAsserted(
              () ->
                  assertThat(told)
                      .containsExactly(
                          "two false OOM: full",
                          "two false BUSY: a script",
                          "two true it answers",
                          "two false OOM: full"));
    }
  }

  /** A node that tells of itself, and fails, as the test says. */
  private static final class TellingNode extends PlainNode {
    private final String name;
    String identity;
    State state = State.VOTING;
    Set<Trait> traits = Set.of();
    String fault;
    int grants;

    TellingNode(String name) {
      super(new InMemoryNode(name));
      this.name = name;
      this.identity = name;
    }

    @Override
    public CompletionStage<GrantReply> grant(GrantRequest request) {
      if (fault != null) {
        return CompletableFuture.completedFuture(new Failed(fault));
      }
      grants++;
      return SoleFleet.admittedGrant(node(), request); // which knows nothing of the identity told
    }

    @Override
    public CompletionStage<NodeStatus> status() {
      return CompletableFuture.completedFuture(
          state == State.UNREACHABLE
              ? NodeStatus.unreachable("down")
              : new NodeStatus(state, Optional.of(identity), "", Duration.ZERO, List.of(), traits));
    }

    @Override
    public String toString() {
      return name;
    }
  }
}
