package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockEvent;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.LockEntry;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** H3, H4, H9, H10: extensions that fail, their rhythm, repair, and late ones. */
class ExtensionTest {

  private static LockRequest extended(long ttlMillis) {
    return LockRequest.builder(Rig.R).ttl(ms(ttlMillis)).maxWait(ms(0)).autoExtend(true).build();
  }

  private static LockRequest plain(long ttlMillis) {
    return Rig.request(ms(ttlMillis), ms(0));
  }

  @Nested
  class OneExtensionFails {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource(names = {"HOLD_REQUESTS", "HOLD_REPLIES", "LOSE_REQUESTS", "DOWN"})
    void nextOneWorksAndTheLeaseGoesOn(Fault fault) {
      List<LockEvent> events = new CopyOnWriteArrayList<>();
      rig.main(builder -> builder.listener(events::add));
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), extended(3_000));
      rig.time.advance(ms(900));
      rig.main().fault(fault);
      rig.time.advance(ms(900));
      assertThat(events).hasAtLeastOneElementOfType(LockEvent.ExtensionFailed.class);
      assertThat(call.lease().isValid()).isTrue();
      rig.main().heal();

      rig.time.advance(ms(60_000));

      assertThat(call.lease().isValid()).isTrue();
      assertThat(events).doesNotHaveAnyElementsOfTypes(LockEvent.Lost.class);
      assertThat(call.finish()).isEmpty();
    }

    @Test
    void everySecondOneFailsAndTheLeaseGoesOn() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), extended(3_000));
      for (int i = 0; i < 100; i++) {
        rig.main().fault(i % 2 == 0 ? Fault.LOSE_REQUESTS : Fault.NONE);
        rig.time.advance(ms(1_200));
        assertThat(call.lease().isValid()).as("after %s steps", i).isTrue();
      }
      rig.main().heal();
      assertThat(call.finish()).isEmpty();
    }

    @Test
    void byHandGivesFalseAndTheLeaseKeepsItsEnd() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(10_000));
      rig.main().fault(Fault.LOSE_REQUESTS);
      CompletableFuture<Boolean> extension = call.lease().extendAsync(ms(30_000));
      rig.time.advance(ms(1_000));
      assertThat(extension).isCompletedWithValue(false);
      assertThat(call.lease().remaining()).isEqualTo(ms(9_000 - 102));
      rig.main().heal();
      assertThat(call.lease().extend(ms(30_000))).isTrue();
      assertThat(call.lease().remaining()).isEqualTo(ms(30_000 - 302));
      assertThat(call.finish()).isEmpty();
    }

    @Test
    void extensionOfOneLeaseThatThrowsDoesNotStopThatOfAnother() {
      InMemoryNode store = new InMemoryNode("throwing", rig.time);
      PlainNode throwing =
          new PlainNode(store) {
            @Override
            public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
              if (entry.resources().contains("bad")) {
                throw new IllegalStateException("by the test");
              }
              return super.extend(entry, ttlMillis);
            }
          };
      Redlock client =
          rig.invariants.client(
              Redlock.builder()
                  .node(rig.invariants.node(throwing))
                  .ticker(rig.time)
                  .scheduler(rig.time)
                  .build());
      Lease bad =
          client.acquire(LockRequest.builder("bad").ttl(ms(3_000)).autoExtend(true).build());
      Lease good =
          client.acquire(LockRequest.builder("good").ttl(ms(3_000)).autoExtend(true).build());
      rig.time.advance(ms(60_000));
      assertThat(good.isValid()).isTrue();
      assertThatThrownBy(bad::ensureValid)
          .isInstanceOf(LeaseLostException.class)
          .extracting(lost -> ((LeaseLostException) lost).reason())
          .isEqualTo(LossReason.EXPIRED);
    }
  }

  @Nested
  class Rhythm {
    @RegisterExtension final Rig rig = Rig.of(1);

    @ParameterizedTest
    @ValueSource(longs = {5, 10, 50, 1_000, 30_000})
    void isSteadyWithoutAHotLoop(long ttl) {
      LockCall call = EntryPoint.USING_ASYNC.call(rig.client(), plain(ttl));
      int before = rig.main().requests();
      for (int i = 0; i < 400; i++) {
        rig.time.advance(Duration.ofNanos(ttl * 250_000));
        assertThat(call.lease().isValid()).isTrue();
      }
      int extensions = rig.main().requests() - before;
      assertThat(extensions).isBetween(100, 100 * 10);
      if (ttl >= 50) {
        assertThat(extensions).isBetween(280, 360); // Three in a ttl.
      }
      assertThat(call.finish()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {50, 1_000, 30_000})
    void isKeptWhenTimersRunLate(long ttl) {
      LockCall call = EntryPoint.USING_ASYNC.call(rig.client(), plain(ttl));
      int before = rig.main().requests();
      for (int i = 0; i < 1_000; i++) {
        rig.time.pauseProcess(Duration.ofNanos(ttl * 200_000));
        rig.time.runDue();
        assertThat(call.lease().isValid()).isTrue();
      }
      assertThat(rig.main().requests() - before).isBetween(400, 1_000);
      assertThat(call.finish()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {50, 1_000, 30_000})
    void isNoHotLoopWhileTheNodeIsDown(long ttl) {
      LockCall call = EntryPoint.USING_ASYNC.call(rig.client(), plain(ttl));
      rig.main().fault(Fault.DOWN);
      int before = rig.main().requests();
      rig.time.advance(ms(ttl));
      assertThat(call.lease().isValid()).isFalse();
      assertThat(rig.main().requests() - before).isBetween(4, 11);
      assertThat(call.finish()).isPresent();
    }

    @Test
    void endsWithTheLongestHold() {
      LockRequest request =
          LockRequest.builder(Rig.R).ttl(ms(3_000)).autoExtend(true).maxHold(ms(10_000)).build();
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request);
      List<LossReason> losses = new ArrayList<>();
      call.lease().onLost(losses::add);
      rig.time.advance(ms(9_999));
      assertThat(call.lease().isValid()).isTrue();
      rig.time.advance(ms(1));
      assertThat(call.lease().isValid()).isFalse();
      rig.time.runDue();
      assertThat(losses).containsExactly(LossReason.MAX_HOLD_REACHED);
      assertThat(call.finish()).isPresent();
      int after = rig.main().requests();
      rig.time.advance(ms(60_000));
      assertThat(rig.main().requests()).isEqualTo(after);
    }

    @Test
    void longestHoldOfAgesIsNoLimit() {
      LockRequest request =
          LockRequest.builder(Rig.R)
              .ttl(ms(3_000))
              .autoExtend(true)
              .maxHold(LockRequest.FOREVER)
              .build();
      rig.time.advance(ms(5_000));
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request);
      rig.time.advance(ms(60_000));
      assertThat(call.lease().isValid()).isTrue();
      assertThat(call.finish()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void endsWithTheRelease(EntryPoint entryPoint) {
      LockCall call = entryPoint.call(rig.client(), extended(1_000));
      rig.time.advance(ms(10_000));
      assertThat(call.finish()).isEmpty();
      int after = rig.main().requests();
      rig.time.advance(ms(10_000));
      assertThat(rig.main().requests()).isEqualTo(after);
      assertThat(rig.time.pending()).isZero();
    }
  }

  @Nested
  class Arguments {
    @RegisterExtension final Rig rig = Rig.of(1);

    @Test
    void partsOfAMillisecondAreCutOffSinceTheNodesDoNotGetThem() {
      rig.main(builder -> builder.driftFactor(0).driftBuffer(Duration.ZERO));
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(1_000));
      assertThat(call.lease().extend(Duration.ofNanos(10_999_999))).isTrue();
      assertThat(call.lease().remaining()).isEqualTo(ms(10));
      rig.time.advance(ms(10));
      assertThat(rig.held()).isEmpty();
      assertThat(call.lease().isValid()).isFalse();
      assertThat(call.finish()).isPresent();
    }

    @Test
    void ttlOfAgesIsTaken() {
      rig.main(builder -> builder.quarantine(false));
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(1_000));
      assertThat(call.lease().extend(LockRequest.FOREVER)).isTrue();
      rig.time.advance(Duration.ofDays(365));
      assertThat(call.lease().isValid()).isTrue();
      assertThat(call.finish()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
      "PT0S, at least 1 ms",
      "PT-1S, at least 1 ms",
      "PT0.000999999S, at least 1 ms",
      "PT0.002S, longer than the drift"
    })
    void badTtlIsRefusedByItsNameWithoutAnyRequest(Duration ttl, String rule) {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(1_000));
      int before = rig.main().requests();
      assertThatThrownBy(() -> call.lease().extend(ttl))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("ttl is " + ttl)
          .hasMessageContaining(rule);
      assertThat(rig.main().requests()).isEqualTo(before);
      assertThat(call.lease().isValid()).isTrue();
      assertThat(call.finish()).isEmpty();
    }

    @Test
    void shorterTtlShortensTheLeaseEvenIfNobodyAnswers() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(60_000));
      rig.main().fault(Fault.HOLD_REPLIES); // The node has shortened the entry all the same.
      CompletableFuture<Boolean> extension = call.lease().extendAsync(ms(1_000));
      assertThat(call.lease().remaining()).isEqualTo(ms(988));
      rig.time.advance(ms(1_000));
      assertThat(rig.held()).isEmpty();
      assertThat(call.lease().isValid()).isFalse();
      assertThat(extension).isDone();
      assertThat(call.finish()).isPresent();
    }

    @Test
    void extensionsOfManyThreadsAreSentOneAfterTheOther() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(60_000));
      rig.main().fault(Fault.HOLD_REPLIES);
      List<CompletableFuture<Boolean>> extensions = new ArrayList<>();
      int before = rig.main().requests();
      for (int i = 1; i <= 10; i++) {
        extensions.add(call.lease().extendAsync(ms(60_000 + i)));
      }
      assertThat(rig.main().requests() - before).isEqualTo(1);
      rig.main().heal();
      assertThat(extensions).allSatisfy(done -> assertThat(done).isCompletedWithValue(true));
      assertThat(call.lease().remaining())
          .isEqualTo(ms(60_010).minus(Duration.ofNanos(602_100_000)));
      assertThat(call.finish()).isEmpty();
    }
  }

  @Nested
  class NodeRestartsEmpty {
    @RegisterExtension final Rig rig = Rig.of(5);

    @Test
    void nodesThatLackTheEntryGetItAndTheCounterByTheNextExtension() {
      rig.node(4).fault(Fault.DOWN);
      rig.node(5).fault(Fault.DOWN);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), extended(3_000));
      assertThat(rig.held()).containsExactly(1, 2, 3);
      rig.main().heal();

      rig.time.advance(ms(1_000));

      assertThat(rig.held()).containsExactly(1, 2, 3, 4, 5);
      assertThat(rig.counterAt(4)).isEqualTo(call.lease().fencingToken());
      rig.store(3).forget();
      rig.store(1).forget();
      LockCall other = EntryPoint.ACQUIRE_ASYNC.call(rig.party().client(), plain(10_000));
      assertThat(other.outcome()).isEqualTo(Outcome.BUSY);
      rig.time.advance(ms(1_000));
      assertThat(rig.held()).containsExactly(1, 2, 3, 4, 5);
      assertThat(call.lease().isValid()).isTrue();
      assertThat(call.finish()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void repairedLeaseIsReleasedEverywhere(EntryPoint entryPoint) {
      rig.node(4).fault(Fault.DOWN);
      LockCall call = entryPoint.call(rig.client(), extended(3_000));
      rig.main().heal();
      rig.time.advance(ms(1_000));
      assertThat(rig.held()).hasSize(5);
      assertThat(call.finish()).isEmpty();
      assertThat(rig.held()).isEmpty();
    }

    @Test
    void nodeThatAnswersMissingAfterTheDecisionIsRepairedToo() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(3_000));
      rig.store(5).release(LockEntry.exclusive(List.of(Rig.R), call.lease().owner()));
      rig.node(5).fault(Fault.HOLD_REPLIES);
      assertThat(call.lease().extend(ms(3_000))).isTrue();
      assertThat(rig.held()).containsExactly(1, 2, 3, 4);
      rig.node(5).heal();
      assertThat(rig.held()).containsExactly(1, 2, 3, 4, 5);
      assertThat(call.finish()).isEmpty();
    }

    /** It must first have a record again; in its quarantine it keeps entries, and grants none. */
    @Test
    void nodeThatHasForgottenIsRepairedByTheExtensionAfterTheOneThatNoticedIt() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(3_000));
      rig.store(5).forget();
      assertThat(call.lease().extend(ms(3_000))).isTrue();
      assertThat(rig.held()).containsExactly(1, 2, 3, 4);
      assertThat(call.lease().extend(ms(3_000))).isTrue();
      assertThat(rig.held()).containsExactly(1, 2, 3, 4, 5);
      assertThat(call.finish()).isEmpty();
    }

    @Test
    void grantThatLandsAfterTheReleaseOfARepairedEntryIsReleasedAgain() {
      rig.node(5).fault(Fault.HOLD_REQUESTS);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(3_000));
      rig.node(5).fault(Fault.NONE);
      assertThat(call.lease().extend(ms(3_000))).isTrue();
      assertThat(rig.held()).containsExactly(1, 2, 3, 4, 5);
      assertThat(call.finish()).isEmpty();
      assertThat(rig.held()).isEmpty();

      rig.node(5).releaseHeld();

      assertThat(rig.held()).isEmpty();
    }

    @Test
    void nothingIsRepairedWithoutAQuorumInTheSameExtension() {
      rig.node(4).fault(Fault.DOWN);
      rig.node(5).fault(Fault.DOWN);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(3_000));
      rig.main().heal();
      rig.node(1).fault(Fault.DOWN);
      assertThat(call.lease().extend(ms(3_000))).isFalse();
      assertThat(rig.held()).containsExactly(1, 2, 3);
      rig.node(1).heal();
      assertThat(call.finish()).isEmpty();
    }

    @Test
    void restartedNodeDoesNotGiveASecondHolderItsVote() {
      rig.node(4).fault(Fault.DOWN);
      rig.node(5).fault(Fault.DOWN);
      LockCall first = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), extended(3_000));
      rig.main().heal();
      rig.store(3).forget();

      Rig.Party other = rig.party();
      for (int i = 0; i < 3; i++) {
        LockCall second = EntryPoint.ACQUIRE_ASYNC.call(other.client(), plain(3_000));
        rig.time.advance(ms(300));
        assertThat(second.outcome()).isNotEqualTo(Outcome.GRANTED);
        assertThat(first.lease().isValid()).isTrue();
      }

      rig.time.advance(ms(3_000)); // No quorum holds it any more, and the first one learns of it.
      assertThat(first.lease().isValid()).isFalse();
      assertThat(first.finish()).isPresent();
    }

    @Test
    void nodeHeldByAnotherIsNotRepaired() {
      rig.node(5).fault(Fault.DOWN);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), extended(3_000));
      rig.main().heal();
      rig.holdForeign(5, Duration.ofHours(1));
      List<String> foreign = rig.ownersAt(5);
      rig.time.advance(ms(10_000));
      assertThat(rig.ownersAt(5)).isEqualTo(foreign);
      assertThat(call.lease().isValid()).isTrue();
      assertThat(call.finish()).isEmpty();
    }
  }

  @Nested
  class LateExtension {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource(names = {"HOLD_REQUESTS", "HOLD_REPLIES"})
    void afterTheReleaseDoesNotBringTheEntryBack(Fault fault) {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(3_000));
      rig.node(3).fault(fault);
      assertThat(call.lease().extend(ms(3_000))).isTrue();
      rig.node(3).fault(Fault.NONE); // The release overtakes what is held.
      assertThat(call.finish()).isEmpty();
      assertThat(rig.held()).isEmpty();

      rig.node(3).releaseHeld();

      assertThat(rig.held()).isEmpty();
    }

    @Test
    void overtakenByALongerOneCannotCutAValidityThatWasGiven() {
      rig.main(builder -> builder.nodeTimeout(ms(20)));
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(10_000));
      extendInVain(call.lease(), 1_000);
      assertThat(call.lease().extend(ms(10_000))).isTrue();
      rig.main().nodes().forEach(FaultyNode::releaseHeld); // The shorter one arrives after all.

      rig.time.advance(call.lease().remaining().minusNanos(1));

      assertThat(call.lease().isValid()).isTrue();
      assertThat(rig.held()).containsExactly(1, 2, 3);
      assertThat(call.finish()).isEmpty();
    }

    @Test
    void countsNoMoreWhenAMajorityHasAnsweredIt() {
      rig.main(builder -> builder.nodeTimeout(ms(20)));
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(10_000));
      extendInVain(call.lease(), 1_000);
      rig.node(1).releaseHeld();
      rig.node(2).releaseHeld();

      assertThat(call.lease().extend(ms(10_000))).isTrue();

      assertThat(call.lease().remaining()).isGreaterThan(ms(9_000));
      rig.node(3).releaseHeld();
      assertThat(call.finish()).isEmpty();
    }

    @Test
    void countsWhenItsAnswerComesWhileALongerOneIsUnderWay() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(10_000));
      rig.node(3).fault(Fault.HOLD_REQUESTS);
      assertThat(call.lease().extend(ms(1_000))).isTrue();
      rig.node(3).fault(Fault.NONE);
      rig.node(1).fault(Fault.HOLD_REQUESTS);
      rig.node(2).fault(Fault.HOLD_REQUESTS);
      CompletableFuture<Boolean> longer = call.lease().extendAsync(ms(10_000));
      rig.node(3).releaseHeld(); // Behind the longer one, which this node has applied.

      rig.node(1).heal();

      assertThat(longer).isCompletedWithValue(true);
      assertThat(call.lease().remaining()).isLessThan(ms(1_000));
      rig.main().heal();
      assertThat(call.finish()).isEmpty();
    }

    @Test
    void countsForGoodWhenItIsOneOfMany() {
      rig.main(builder -> builder.nodeTimeout(ms(20)));
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(10_000));
      for (long ttl = 1_000; ttl < 10_000; ttl += 1_000) {
        extendInVain(call.lease(), ttl);
      }

      assertThat(call.lease().extend(ms(10_000))).isTrue();

      assertThat(call.lease().remaining()).isLessThan(ms(1_000));
      rig.main().heal();
      assertThat(call.finish()).isEmpty();
    }

    /** Asks for a shorter ttl; the requests stay on their way when the nodes answer again. */
    private void extendInVain(Lease lease, long ttlMillis) {
      rig.main().fault(Fault.HOLD_REQUESTS);
      CompletableFuture<Boolean> extension = lease.extendAsync(ms(ttlMillis));
      rig.time.advance(ms(20));
      assertThat(extension.isDone()).isTrue();
      rig.main().fault(Fault.NONE);
    }

    @Test
    void answeringMissingAfterTheReleaseIsNotRepaired() {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(3_000));
      rig.store(3).forget();
      rig.node(3).fault(Fault.HOLD_REPLIES);
      assertThat(call.lease().extend(ms(3_000))).isTrue();
      rig.node(3).fault(Fault.NONE);
      assertThat(call.finish()).isEmpty();
      rig.node(3).releaseHeld();
      assertThat(rig.held()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void repairThatReachesTheNodeAfterTheEndIsTakenBack(boolean released) {
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), plain(3_000));
      rig.store(3).forget();
      rig.node(3).fault(Fault.HOLD_REPLIES);
      assertThat(call.lease().extend(ms(3_000))).isTrue();
      rig.node(3).fault(Fault.HOLD_REQUESTS);
      rig.node(3).releaseHeld(); // "Missing"; the repair is on its way, and is held.
      rig.node(3).fault(Fault.NONE);
      if (released) {
        assertThat(call.finish()).isEmpty();
      } else {
        rig.time.advance(ms(3_000));
        assertThat(call.lease().isValid()).isFalse();
      }
      rig.node(3).releaseHeld();
      assertThat(rig.held()).isEmpty();
      call.finish();
    }
  }
}
