package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockRequest;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import dev.lukko.testkit.SoleFleet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A12, A13, A14: what a caller names itself, nodes that come late, holders that die. */
class MembershipTest {

  @Nested
  class ConstantTextAsLockValue {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void loserDoesNotTouchTheWinnersEntry(EntryPoint entryPoint) {
      LockRequest request =
          LockRequest.builder(Rig.R).ttl(ms(10_000)).maxWait(ms(0)).metadata("worker").build();
      Rig.Party winner = rig.party(builder -> builder.description("same"));
      Rig.Party loser = rig.party(builder -> builder.description("same"));
      LockCall holding = EntryPoint.ACQUIRE_ASYNC.call(winner.client(), request);
      List<String> before = rig.ownersAt(1);

      for (int i = 0; i < 20; i++) {
        assertThat(entryPoint.call(loser.client(), request).outcome()).isEqualTo(Outcome.BUSY);
      }

      assertThat(rig.held()).containsExactly(1, 2, 3);
      assertThat(rig.ownersAt(1)).isEqualTo(before);
      assertThat(holding.finish()).isEmpty();
    }

    @Test
    void everyAcquisitionHasAnOwnerOfItsOwn() {
      Set<String> owners = new HashSet<>();
      for (int i = 0; i < 100; i++) {
        LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), Rig.request(ms(10_000)));
        owners.add(call.lease().owner());
        assertThat(call.finish()).isEmpty();
      }
      assertThat(owners).hasSize(100);
    }

    @Test
    void ownersAreComparedToTheLastCharacter() {
      LockEntry foobar = LockEntry.exclusive(List.of(Rig.R), "foobar");
      SoleFleet.admittedGrant(rig.store(1), new GrantRequest(foobar, 10_000, 1))
          .toCompletableFuture()
          .join();
      for (String other :
          List.of("foo", "foobarr", "Foobar", "foobar ", " foobar", "foob\u0430r")) {
        LockEntry contender = LockEntry.exclusive(List.of(Rig.R), other);
        assertThat(SoleFleet.admittedGrant(rig.store(1), new GrantRequest(contender, 10_000, 1)))
            .isCompletedWithValueMatching(GrantReply.Refused.class::isInstance);
        assertThat(rig.store(1).extend(contender, 10_000))
            .isCompletedWithValueMatching(ExtendReply.HeldByOther.class::isInstance);
        assertThat(rig.store(1).release(contender))
            .isCompletedWithValueMatching(ReleaseReply.NotHeld.class::isInstance);
      }
      assertThat(rig.store(1).release(foobar))
          .isCompletedWithValueMatching(ReleaseReply.Released.class::isInstance);
    }
  }

  @Nested
  class NodesDownAtTheStart {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void joinWhenTheyComeUpWithoutANewClient(EntryPoint entryPoint) {
      rig.main().fault(Fault.DOWN);
      assertThat(entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(0))).outcome())
          .isEqualTo(Outcome.UNREACHABLE);
      rig.node(1).heal();
      assertThat(entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(0))).outcome())
          .isEqualTo(Outcome.UNREACHABLE);

      rig.node(3).heal();

      LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(0)));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
      assertThat(rig.held()).containsExactly(1, 3);
      assertThat(call.finish()).isEmpty();
    }
  }

  @Nested
  class HolderDiesWithThirtySecondsLeft {
    @ParameterizedTest
    @EnumSource
    void waiterGetsTheLockWithinFiftyMillisecondsOfItsEnd(EntryPoint entryPoint) {
      for (int nodes : new int[] {1, 3, 5}) {
        for (boolean hints : new boolean[] {true, false}) {
          try (Rig rig = hints ? Rig.of(nodes) : Rig.plain(nodes)) {
            for (int i = 1; i <= nodes; i++) {
              rig.holdForeign(i, ms(30_000));
            }
            rig.time.advance(ms(10));
            LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(60_000)));
            rig.time.advance(ms(29_989));
            assertThat(call.isWaiting()).isTrue();

            rig.time.advance(ms(51));

            assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
            assertThat(rig.main().requests()).isLessThan(nodes * 2 * 160);
            assertThat(call.finish()).isEmpty();
          }
        }
      }
    }

    @Test
    void waiterThatHasWaitedFiveSecondsGetsItToo() {
      try (Rig rig = Rig.of(3)) {
        for (int i = 1; i <= 3; i++) {
          rig.holdForeign(i, ms(60_000));
        }
        LockCall call =
            EntryPoint.ACQUIRE_ASYNC.call(rig.client(), Rig.request(ms(10_000), ms(120_000)));
        rig.time.advance(ms(5_000));
        rig.main().fault(Fault.HOLD_REQUESTS);
        rig.releaseForeign();
        for (int i = 1; i <= 3; i++) {
          rig.holdForeign(i, ms(30_000)); // Another one got it first, and dies.
        }
        rig.main().heal();
        rig.time.advance(ms(29_999));
        assertThat(call.isWaiting()).isTrue();
        rig.time.advance(ms(51));
        assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
      }
    }

    @Test
    void waitersOfOneClientAndOfOthersAllGetItOneAfterTheOther() {
      try (Rig rig = Rig.of(3)) {
        for (int i = 1; i <= 3; i++) {
          rig.holdForeign(i, ms(1_000));
        }
        Rig.Party[] parties = {rig.party(), rig.party(), rig.party()};
        List<LockCall> calls = new java.util.ArrayList<>();
        for (int i = 0; i < 12; i++) {
          calls.add(
              EntryPoint.ACQUIRE_ASYNC.call(
                  parties[i % 3].client(), Rig.request(ms(10_000), ms(60_000))));
        }
        rig.time.advance(ms(1_000));
        for (int served = 0; served < 12; served++) {
          rig.time.advance(ms(100));
          List<LockCall> granted = calls.stream().filter(call -> !call.isWaiting()).toList();
          assertThat(granted).as("granted after %s were served", served).hasSize(1);
          assertThat(granted.get(0).finish()).isEmpty();
          calls.removeAll(granted);
        }
      }
    }
  }
}
