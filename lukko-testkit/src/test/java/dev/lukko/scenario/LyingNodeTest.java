package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Holder;
import dev.lukko.LockEvent;
import dev.lukko.LockEvent.NodeStateChanged;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One node of three that answers with numbers that cannot be true costs its vote and an event:
 * never the lock, never a token, never a hang.
 */
class LyingNodeTest {
  private static final long MAX = GrantRequest.MAX_COUNTER;
  private static final Duration AGES = Duration.ofSeconds(Long.MAX_VALUE);
  private static final Holder HOLDER =
      new Holder("somebody", Optional.empty(), Optional.of(ms(50)));

  @RegisterExtension final Rig rig = Rig.of(2);

  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  static List<Long> impossibleCounters() {
    return List.of(
        0L, -1L, Long.MIN_VALUE, MAX - 1, MAX, MAX + 1, Long.MAX_VALUE - 1, Long.MAX_VALUE);
  }

  /** What the third node says in place of the truth. */
  private static class Liar extends ForwardingNode {
    Liar(LockNode node) {
      super(node);
    }

    static <R> CompletionStage<R> say(R reply) {
      return CompletableFuture.completedFuture(reply);
    }
  }

  private InMemoryNode third() {
    return new InMemoryNode("liar", rig.time);
  }

  private Redlock client(LockNode liar) {
    return rig.invariants.client(
        Redlock.builder()
            .node(liar) // first, so that its answer is there when the others decide
            .node(rig.invariants.node(rig.store(1)))
            .node(rig.invariants.node(rig.store(2)))
            .ticker(rig.time)
            .scheduler(rig.time)
            .listener(events::add)
            .build());
  }

  /** Acquires in every way, one after the other. */
  private void eachCallGetsTheLockAndATokenAboveTheLast(Redlock client) {
    long last = 0;
    for (EntryPoint entryPoint : EntryPoint.values()) {
      LockCall call = entryPoint.call(client, Rig.request(ms(3_000), ms(0)));
      assertThat(call.failure()).as(entryPoint.name()).isNull();
      assertThat(call.lease().fencingToken()).isGreaterThan(last).isLessThan(MAX / 2);
      last = call.lease().fencingToken();
      assertThat(call.finish()).isEmpty();
      assertThat(rig.held()).isEmpty();
      rig.time.advance(ms(1));
    }
    assertThat(rig.counterAt(1)).isLessThan(MAX / 2);
    assertThat(rig.counterAt(2)).isLessThan(MAX / 2);
  }

  private void itsVoteIsToldAsLost(String about) {
    rig.time.advance(ms(1));
    assertThat(events)
        .filteredOn(NodeStateChanged.class::isInstance)
        .map(NodeStateChanged.class::cast)
        .isNotEmpty()
        .allSatisfy(
            event -> {
              assertThat(event.node()).isEqualTo("liar");
              assertThat(event.available()).isFalse();
              assertThat(event.detail()).contains(about);
            });
  }

  @ParameterizedTest
  @MethodSource("impossibleCounters")
  void grantWithAnImpossibleCounterIsNoVote(long counter) {
    eachCallGetsTheLockAndATokenAboveTheLast(
        client(
            new Liar(third()) {
              @Override
              public CompletionStage<GrantReply> grant(GrantRequest request) {
                return say(new GrantReply.Granted(counter));
              }
            }));
    itsVoteIsToldAsLost("counter");
  }

  @ParameterizedTest
  @MethodSource("impossibleCounters")
  void grantWithAnImpossibleCounterIsReleasedAndDoesNotMakeTheQuorum(long counter) {
    InMemoryNode store = third();
    Redlock client =
        client(
            new Liar(store) {
              @Override
              public CompletionStage<GrantReply> grant(GrantRequest request) {
                return super.grant(request).thenApply(truth -> new GrantReply.Granted(counter));
              }
            });
    rig.holdForeign(1, ms(60_000));
    LockCall call = EntryPoint.ACQUIRE_ASYNC.call(client, Rig.request(ms(3_000), ms(0)));
    assertThat(call.outcome()).isEqualTo(Outcome.BUSY);
    assertThat(store.isHeld(Rig.R)).isFalse();
    assertThat(rig.held()).containsExactly(1);
  }

  @ParameterizedTest
  @MethodSource("impossibleCounters")
  void refusalWithAnImpossibleCounterRaisesNoProposal(long counter) {
    eachCallGetsTheLockAndATokenAboveTheLast(
        client(
            new Liar(third()) {
              @Override
              public CompletionStage<GrantReply> grant(GrantRequest request) {
                return say(new GrantReply.Refused(counter, HOLDER));
              }
            }));
  }

  @ParameterizedTest
  @MethodSource("impossibleCounters")
  void confirmationThatSetsAnImpossibleCounterAgainstOursIsNotFollowed(long counter) {
    Redlock client =
        client(
            new Liar(third()) {
              @Override
              public CompletionStage<ConfirmReply> confirm(LockEntry entry, long asked) {
                return say(new ConfirmReply.Higher(counter));
              }
            });
    LockEntry former = LockEntry.exclusive(List.of(Rig.R), "former");
    for (int i = 1; i <= 3; i++) { // the honest two do not agree, so that a number is confirmed
      SoleFleet.admittedGrant(
          rig.store(1), new GrantRequest(former, 1_000, rig.time.wallMicros() + 90_000_000 * i));
      rig.store(1).release(former);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(client, Rig.request(ms(3_000), ms(0)));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
      assertThat(call.lease().fencingToken()).isBetween(1L, MAX / 2);
      assertThat(call.finish()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -1, 1_000_000, Integer.MAX_VALUE})
  void releaseThatWokeAnImpossibleNumberOfClientsDelaysNobody(int watchers) {
    Redlock client =
        client(
            new Liar(third()) {
              @Override
              public CompletionStage<ReleaseReply> release(LockEntry entry) {
                return say(new ReleaseReply.Released(watchers));
              }
            });
    LockRequest patient = Rig.request(ms(3_000), ms(60_000));
    LockCall holder = EntryPoint.ACQUIRE_ASYNC.call(client, patient);
    LockCall waiter = EntryPoint.ACQUIRE_ASYNC.call(client, patient);
    rig.time.advance(ms(100));
    assertThat(holder.finish()).isEmpty();
    rig.time.advance(ms(300));
    assertThat(waiter.outcome()).isEqualTo(Outcome.GRANTED);
    assertThat(waiter.finish()).isEmpty();
  }

  private enum Status {
    QUARANTINED_FOR_AGES(NodeStatus.State.QUARANTINED, AGES),
    QUARANTINED_FOR_LONG_MILLIS(NodeStatus.State.QUARANTINED, Duration.ofMillis(Long.MAX_VALUE)),
    QUARANTINED_FOR_LESS_THAN_NOTHING(
        NodeStatus.State.QUARANTINED, Duration.ofSeconds(Long.MIN_VALUE)),
    RESTARTED_FOR_AGES(NodeStatus.State.RESTARTED, AGES),
    UNMARKED_FOR_AGES(NodeStatus.State.UNMARKED, AGES);

    final NodeStatus status;

    Status(NodeStatus.State state, Duration remaining) {
      status = new NodeStatus(state, Optional.of("server"), "by the test", remaining, List.of());
    }
  }

  /** A node that says that it must not vote, and for how long; it can be admitted or cannot. */
  private static Liar notVoting(LockNode node, NodeStatus status) {
    return new Liar(node) {
      @Override
      public CompletionStage<NodeStatus> status() {
        return say(status);
      }

      @Override
      public CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
        return say(status);
      }

      @Override
      public CompletionStage<GrantReply> grant(GrantRequest request) {
        return say(new NotVoting(status));
      }
    };
  }

  @ParameterizedTest
  @EnumSource
  void statusThatNamesAnImpossibleTimeIsNoHang(Status lie) {
    Redlock client = client(notVoting(third(), lie.status));
    for (EntryPoint entryPoint : EntryPoint.values()) {
      LockCall call = entryPoint.call(client, Rig.request(ms(3_000)));
      rig.time.advance(ms(2_000));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
      assertThat(call.finish()).isEmpty();
    }
  }

  /** The one that is unmarked makes the client look at all nodes, again and again. */
  @ParameterizedTest
  @EnumSource
  void statusThatNamesAnImpossibleTimeBesideAnUnmarkedNodeIsAnErrorAndNoHang(Status lie) {
    NodeStatus unmarked =
        new NodeStatus(
            NodeStatus.State.UNMARKED, Optional.of("other"), "new", Duration.ZERO, List.of());
    Redlock client =
        rig.invariants.client(
            Redlock.builder()
                .node(notVoting(third(), lie.status))
                .node(notVoting(new InMemoryNode("unmarked", rig.time), unmarked))
                .node(rig.invariants.node(rig.store(1)))
                .ticker(rig.time)
                .scheduler(rig.time)
                .build());
    for (int i = 0; i < 2; i++) {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(client, Rig.request(ms(3_000)));
      rig.time.advance(ms(10_000));
      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
    }
  }

  @Test
  void holderForAgesIsShownAndBreaksNothing() {
    Holder ages = new Holder("somebody", Optional.empty(), Optional.of(AGES));
    Redlock client =
        client(
            new Liar(third()) {
              @Override
              public CompletionStage<GrantReply> grant(GrantRequest request) {
                return say(new GrantReply.Refused(1, ages));
              }

              @Override
              public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
                return say(new ExtendReply.HeldByOther(ages));
              }
            });
    LockCall call = EntryPoint.ACQUIRE_ASYNC.call(client, Rig.request(ms(3_000), ms(0)));
    assertThat(call.lease().extend(ms(3_000))).isTrue();
    assertThat(call.finish()).isEmpty();
    rig.holdForeign(1, ms(60_000));
    LockCall refused = EntryPoint.ACQUIRE_ASYNC.call(client, Rig.request(ms(3_000), ms(0)));
    assertThat(refused.failure()).hasMessageContaining("somebody");
    assertThat(ages.toString()).contains("somebody, for another");
  }

  @Test
  void nodesThatAllAreBeyondWhatAClockCanSayAreFollowed() {
    LockEntry former = LockEntry.exclusive(List.of(Rig.R), "former");
    InMemoryNode store = third();
    for (InMemoryNode each : List.of(store, rig.store(1), rig.store(2))) {
      SoleFleet.admittedGrant(each, new GrantRequest(former, 1_000, MAX - 100));
      each.release(former);
    }
    Redlock client = client(store);
    long last = MAX - 100;
    for (int i = 0; i < 3; i++) {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(client, Rig.request(ms(3_000), ms(0)));
      assertThat(call.lease().fencingToken()).isBetween(last + 1, MAX);
      last = call.lease().fencingToken();
      assertThat(call.finish()).isEmpty();
    }
  }
}
