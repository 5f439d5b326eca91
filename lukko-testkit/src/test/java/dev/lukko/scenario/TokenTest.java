package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import dev.lukko.testkit.SoleFleet;
import dev.lukko.testkit.rows.FaultRow;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** F1 to F3: tokens rise, whatever the nodes' counters and the clients' clocks say. */
class TokenTest {

  private static LockRequest request() {
    return LockRequest.builder(Rig.R).ttl(ms(10_000)).maxWait(ms(0)).autoExtend(false).build();
  }

  @Nested
  class ProcessStandsStillInTheMiddleOfARound {
    @RegisterExtension final Rig rig = Rig.of(3);

    /** A node back from quarantine knows no better than the proposal says. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void leaseThatIsValidHasATokenNoOlderThanItsTtl(int look) {
      Rig.Party party = rig.party(builder -> builder.ticker(standingStillAt(look)));

      party
          .client()
          .acquireAsync(request())
          .handle((lease, failure) -> lease)
          .thenAccept(
              lease -> {
                if (lease != null && lease.isValid()) {
                  assertThat(lease.fencingToken())
                      .isGreaterThan(rig.time.wallMicros() - 10_000_000);
                }
                if (lease != null) {
                  lease.release();
                }
              })
          .join();
    }

    private Ticker standingStillAt(int look) {
      AtomicInteger looks = new AtomicInteger();
      return new Ticker() {
        @Override
        public long nanoTime() {
          long now = rig.time.nanoTime();
          standStill();
          return now;
        }

        @Override
        public long wallMicros() {
          long now = rig.time.wallMicros();
          standStill();
          return now;
        }

        private void standStill() {
          if (looks.incrementAndGet() == look) {
            rig.time.pauseProcess(ms(11_000));
          }
        }
      };
    }
  }

  @Nested
  class CountersOfTheNodesDiffer {
    @RegisterExtension final Rig rig = Rig.of(5);

    @ParameterizedTest
    @EnumSource
    void laterHolderOnOtherNodesHasAHigherToken(EntryPoint entryPoint) {
      raiseCounter(1, 10_000_000);
      Rig.Party early = rig.party();
      Rig.Party late = rig.party(builder -> builder.ticker(wallClockOff(Duration.ofHours(-1))));
      early.nodes().get(3).fault(Fault.DOWN);
      early.nodes().get(4).fault(Fault.DOWN);
      LockCall first = entryPoint.call(early.client(), request());
      long token = first.lease().fencingToken();
      assertThat(first.finish()).isEmpty();
      late.nodes().get(0).fault(Fault.DOWN);
      late.nodes().get(1).fault(Fault.DOWN);

      LockCall second = entryPoint.call(late.client(), request());

      assertThat(second.lease().fencingToken()).isGreaterThan(token);
      assertThat(second.finish()).isEmpty();
    }

    @Test
    void equalCountersNeedNoSecondQuestion() {
      rig.client().acquire(request()).close();
      int before = rig.main().requests();
      Lease lease = rig.client().acquire(request());
      assertThat(rig.main().requests() - before).isEqualTo(5);
      lease.close();
    }

    @Test
    void tokenIsInForceAtAQuorumWhenTheLeaseIsGranted() {
      raiseCounter(2, 70_000_000);
      Lease lease = rig.client().acquire(request());
      long atOrAbove =
          rig.stores.stream()
              .filter(store -> rig.counterAt(rig.stores.indexOf(store) + 1) == lease.fencingToken())
              .count();
      assertThat(atOrAbove).isGreaterThanOrEqualTo(3);
      lease.close();
    }

    @Test
    void entryLostBeforeTheConfirmationLosesTheRoundAndNothingIsLeft() {
      raiseCounter(1, 70_000_000);
      rig.main().fault(Fault.HOLD_REPLIES);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request());
      for (int i = 2; i <= 5; i++) {
        rig.store(i).forget();
      }
      rig.main().nodes().forEach(node -> node.releaseHeld());
      assertThat(call.isWaiting()).isTrue();
      rig.main().heal();
      assertThat(call.outcome()).as("another round, of the new fleet").isEqualTo(Outcome.GRANTED);
      assertThat(call.finish()).isEmpty();
      assertThat(rig.held()).isEmpty();
    }

    @FaultRow(15)
    @ParameterizedTest
    @EnumSource(names = {"DOWN", "LOSE_REQUESTS", "LOSE_REPLIES"})
    void nodesLostBeforeTheConfirmationMakeItUnreachable(Fault fault) {
      raiseCounter(1, 70_000_000);
      rig.main().fault(Fault.HOLD_REPLIES);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request());
      rig.main().fault(fault);
      rig.main().nodes().forEach(node -> node.releaseHeld());
      rig.time.advance(ms(500));
      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
      rig.stores.forEach(store -> store.forget()); // The releases were lost as well.
    }

    @FaultRow(15)
    @Test
    void repliesToTheConfirmationLostOnThreeOfFiveThenNotGrantedAndItsTokenIsNeverSeenAgain() {
      raiseCounter(1, 70_000_000);
      rig.main().fault(Fault.HOLD_REPLIES);
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request());
      rig.main().fault(Fault.NONE);
      rig.main().nodes().subList(1, 4).forEach(node -> node.fault(Fault.LOSE_REPLIES));
      rig.main().nodes().forEach(node -> node.releaseHeld());
      assertThat(call.isWaiting()).isTrue();
      long burnt = rig.counterAt(1);
      assertThat(rig.counterAt(2)).as("it was confirmed").isEqualTo(burnt);
      rig.time.advance(ms(500));
      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
      rig.main().heal();
      rig.time.advance(ms(1_000));
      for (int i = 0; i < 3; i++) {
        Lease next = rig.party().client().acquire(request());
        assertThat(next.fencingToken()).isGreaterThan(burnt);
        next.close();
      }
    }

    @Test
    void counterAtItsEndIsAnErrorAndNothingIsLeft() {
      for (int i = 1; i <= 5; i++) {
        setCounter(i, GrantRequest.MAX_COUNTER);
      }
      LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request());
      assertThat(call.failure()).isInstanceOf(LockException.class);
      assertThat(rig.held()).isEmpty();
    }

    @Test
    void counterAtItsEndOnOneNodeCostsItsVoteAndNothingIsLeft() {
      setCounter(3, GrantRequest.MAX_COUNTER - 1);
      for (int i = 0; i < 5; i++) {
        LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), request());
        assertThat(call.lease().fencingToken()).isLessThan(GrantRequest.MAX_COUNTER / 2);
        call.finish();
        assertThat(rig.held()).isEmpty();
      }
    }

    private void raiseCounter(int number, long aboveWallMicros) {
      setCounter(number, rig.time.wallMicros() + aboveWallMicros);
    }

    private void setCounter(int number, long value) {
      LockEntry entry = LockEntry.exclusive(List.of(Rig.R), "earlier");
      SoleFleet.admittedGrant(rig.store(number), new GrantRequest(entry, 1_000, value))
          .toCompletableFuture()
          .join();
      rig.store(number).release(entry);
    }

    private Ticker wallClockOff(Duration offset) {
      return new Ticker() {
        @Override
        public long nanoTime() {
          return rig.time.nanoTime();
        }

        @Override
        public long wallMicros() {
          return rig.time.wallMicros() + offset.toNanos() / 1_000;
        }
      };
    }

    /** Any clocks, any majority, any order of replies; the seed is in the name of the test. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void everyLaterGrantHasAHigherTokenUnderAnyClocksAndMajorities(long seed) {
      Random random = new Random(seed);
      List<Rig.Party> parties = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Duration offset = ms(random.nextInt(7_200_000) - 3_600_000);
        parties.add(rig.party(builder -> builder.ticker(wallClockOff(offset)).retryCount(0)));
      }
      long last = 0;
      int grants = 0;
      for (int step = 0; step < 1_500; step++) {
        Rig.Party party = parties.get(random.nextInt(parties.size()));
        List<Integer> order = new ArrayList<>(List.of(0, 1, 2, 3, 4));
        Collections.shuffle(order, random);
        int missing = random.nextInt(4);
        for (int i = 0; i < 5; i++) {
          party.nodes().get(order.get(i)).fault(i < missing ? Fault.DOWN : Fault.HOLD_REPLIES);
        }
        LockCall call = EntryPoint.ACQUIRE_ASYNC.call(party.client(), request());
        for (int round = 0; round < 20 && call.isWaiting(); round++) {
          Collections.shuffle(order, random);
          order.forEach(i -> party.nodes().get(i).releaseHeld());
        }
        if (call.outcome() == Outcome.GRANTED) {
          assertThat(call.lease().fencingToken()).as("step %s", step).isGreaterThan(last);
          last = call.lease().fencingToken();
          grants++;
        }
        party.heal();
        call.finish();
        if (random.nextInt(10) == 0) {
          rig.time.advance(ms(random.nextInt(100)));
        }
        rig.stores.forEach(store -> assertThat(store.isHeld(Rig.R)).isFalse());
      }
      assertThat(grants).isGreaterThan(500);
    }
  }

  @Nested
  class OneHold {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void keepsItsTokenAndOwnerOverExtensionsAndRepairs(EntryPoint entryPoint) {
      LockRequest request =
          LockRequest.builder(Rig.R).ttl(ms(3_000)).maxWait(ms(0)).autoExtend(true).build();
      LockCall call = entryPoint.call(rig.client(), request);
      long token = call.lease().fencingToken();
      String owner = call.lease().owner();
      for (int i = 0; i < 10; i++) {
        rig.store(1 + i % 3).forget();
        rig.time.advance(ms(1_100));
        assertThat(call.lease().extend(ms(3_000))).isTrue();
        assertThat(call.lease().fencingToken()).isEqualTo(token);
        assertThat(call.lease().owner()).isEqualTo(owner);
      }
      for (int i = 1; i <= 3; i++) {
        assertThat(rig.counterAt(i)).isEqualTo(token);
      }
      assertThat(call.finish()).isEmpty();
      assertThat(call.lease().fencingToken()).isEqualTo(token);
    }

    @ParameterizedTest
    @EnumSource
    void thatIsStaleReturnsItsOwnTokenAndNeverTheNextOnes(EntryPoint entryPoint) {
      LockCall stale = entryPoint.call(rig.client(), request());
      long token = stale.lease().fencingToken();
      rig.time.advance(ms(10_000));
      Lease next = rig.client().acquire(request());
      assertThat(stale.lease().fencingToken()).isEqualTo(token).isLessThan(next.fencingToken());
      assertThat(stale.finish()).isPresent();
      assertThat(stale.lease().fencingToken()).isEqualTo(token);
      next.close();
    }
  }

  @Nested
  class AllNodesLoseTheirData {
    @RegisterExtension final Rig rig = Rig.of(3);

    @ParameterizedTest
    @EnumSource
    void nextTokenIsHigherAllTheSame(EntryPoint entryPoint) {
      long last = 0;
      for (int i = 0; i < 5; i++) {
        LockCall call = entryPoint.call(rig.party().client(), request());
        assertThat(call.lease().fencingToken()).isGreaterThan(last);
        last = call.lease().fencingToken();
        assertThat(call.finish()).isEmpty();
        rig.stores.forEach(store -> store.forget());
        rig.time.advance(ms(1));
      }
    }

    @Test
    void sameClientRemembersThoughItsClockWentBack() {
      long last = 0;
      for (int i = 0; i < 5; i++) {
        Lease lease = rig.client().acquire(request());
        assertThat(lease.fencingToken()).isGreaterThan(last);
        last = lease.fencingToken();
        lease.close();
        rig.stores.forEach(store -> store.forget());
        rig.time.jumpWallClock(Duration.ofHours(-1));
      }
    }
  }
}
