package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockBusyException;
import dev.lukko.LockException;
import dev.lukko.LockInterruptedException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.NodeAnswer;
import dev.lukko.NodeAnswer.Kind;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockCall;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A5: contention, unreachable nodes, a used-up budget and an interrupt are told apart. */
class TypedFailuresTest {
  @RegisterExtension final Rig rig = Rig.of(3);

  @Test
  void heldByAnotherNamesTheHolderAndItsRemainingTimeAndEachNodesAnswer() {
    Rig.Party other = rig.party(builder -> builder.description("4711@web-1"));
    LockCall holder =
        EntryPoint.ACQUIRE_ASYNC.call(
            other.client(),
            LockRequest.builder(Rig.R).ttl(ms(30_000)).metadata("nightly billing").build());
    rig.time.advance(ms(10_000));

    LockCall call = EntryPoint.ACQUIRE.call(rig.client(), Rig.request(ms(10_000), ms(0)));

    LockBusyException busy = (LockBusyException) call.failure();
    assertThat(busy).isInstanceOf(LockNotAcquiredException.class).isInstanceOf(LockException.class);
    assertThat(busy.holder())
        .hasValueSatisfying(
            who -> {
              assertThat(who.description()).contains("4711@web-1").contains("nightly billing");
              assertThat(who.description()).doesNotContain(holder.lease().owner().substring(0, 27));
              assertThat(who.remaining()).hasValue(ms(20_000));
            });
    assertThat(busy.waitExhausted()).isFalse();
    assertThat(busy.rounds()).isEqualTo(1);
    assertThat(busy.resources()).containsExactly(Rig.R);
    assertThat(busy).hasMessageContaining("[r]").hasMessageContaining("for another 20000 ms");
    assertThat(busy.answers())
        .extracting(NodeAnswer::kind)
        .containsExactly(Kind.HELD, Kind.HELD, Kind.PENDING);
    assertThat(holder.finish()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void noQuorumReachableSaysSoThoughTheNodeThatAnswersHoldsTheLockForAnother(
      EntryPoint entryPoint) {
    rig.holdForeign(3, ms(60_000));
    rig.node(1).fault(Fault.DOWN);
    rig.node(2).fault(Fault.DOWN);

    LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(0)));

    assertThat(call.failure())
        .isInstanceOf(QuorumUnavailableException.class)
        .hasMessageContaining("2 needed")
        .hasMessageContaining("n1: failed, connection refused")
        .hasMessageContaining("n2: failed, connection refused");
  }

  @Test
  void silentNodesAreNamedWithTheTimeoutThatTheyMissed() {
    rig.main().fault(Fault.HOLD_REQUESTS);
    LockCall call = EntryPoint.ACQUIRE.call(rig.client(), Rig.request(ms(10_000), ms(0)));
    rig.time.advance(ms(499));
    assertThat(call.isWaiting()).isTrue();
    rig.time.advance(ms(1));

    assertThat(call.failure())
        .isInstanceOf(QuorumUnavailableException.class)
        .hasMessageContaining("0 of 3 nodes answered, 2 needed")
        .hasMessageContaining("n1: unknown, no answer within 500 ms");
  }

  @Test
  void causesOfFailedNodesAreAttached() {
    IOException broken = new IOException("disk is full");
    InMemoryNode store = new InMemoryNode("full", rig.time);
    PlainNode full =
        new PlainNode(store) {
          @Override
          public CompletionStage<GrantReply> grant(GrantRequest request) {
            return CompletableFuture.completedFuture(new Failed("MISCONF: no space", broken));
          }
        };
    Redlock client =
        rig.invariants.client(
            Redlock.builder().node(full).ticker(rig.time).scheduler(rig.time).build());

    LockCall call = EntryPoint.ACQUIRE.call(client, Rig.request(ms(10_000), ms(0)));

    assertThat(call.failure())
        .isInstanceOf(QuorumUnavailableException.class)
        .hasMessageContaining("full: failed, MISCONF: no space")
        .hasSuppressedException(broken);
  }

  @ParameterizedTest
  @EnumSource
  void usedUpBudgetIsToldWithTheTimeAndTheNumberOfRounds(EntryPoint entryPoint) {
    holdAll();
    LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(3_000)));
    rig.time.advance(ms(3_000));

    assertThat(call.outcome()).isEqualTo(LockCall.Outcome.BUSY);
    if (call.failure() instanceof LockBusyException busy) {
      assertThat(busy.waitExhausted()).isTrue();
      assertThat(busy.waited()).isEqualTo(Duration.ofSeconds(3));
      assertThat(busy.rounds()).isBetween(2, 20);
      assertThat(busy).hasMessageContaining("gave up after 3000 ms");
      assertThat(busy.holder()).isNotEqualTo(Optional.empty());
    } else {
      assertThat(entryPoint).isEqualTo(EntryPoint.TRY_ACQUIRE);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ACQUIRE", "TRY_ACQUIRE", "USING", "RUN"})
  void interruptIsToldAndItsFlagKept(EntryPoint entryPoint) {
    holdAll();
    LockCall call = entryPoint.call(rig.client(), Rig.request(ms(10_000), ms(3_000)));
    call.cancel();

    assertThat(call.failure())
        .isInstanceOf(LockInterruptedException.class)
        .hasMessageContaining("n1: held");
    assertThat(call.interruptFlagAtEnd()).isTrue();
  }

  private void holdAll() {
    for (int i = 1; i <= 3; i++) {
      rig.holdForeign(i, ms(60_000));
    }
  }
}
