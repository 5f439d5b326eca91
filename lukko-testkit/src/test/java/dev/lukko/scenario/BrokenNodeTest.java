package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Holder;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.Capability;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A node that breaks the rules of the interface costs its vote, and nothing else. */
class BrokenNodeTest {
  @RegisterExtension final Rig rig = Rig.of(2);

  private enum Way {
    THROWS,
    THROWS_AN_ERROR,
    GIVES_NULL,
    FAILS_THE_STAGE,
    FAILS_THE_STAGE_WITH_AN_ERROR,
    GIVES_A_STAGE_THAT_THROWS,
    GIVES_NULL_IN_THE_STAGE
  }

  /** A node that is broken in every verb. */
  private static LockNode broken(Way way) {
    return (LockNode)
        Proxy.newProxyInstance(
            BrokenNodeTest.class.getClassLoader(),
            new Class<?>[] {LockNode.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "name", "toString" -> "broken";
                  case "hashCode" -> 1;
                  case "equals" -> proxy == arguments[0];
                  case "capabilities" -> {
                    if (way == Way.THROWS_AN_ERROR) {
                      throw new NoClassDefFoundError("by the test");
                    }
                    yield Set.of(Capability.WATCH, Capability.FAIR);
                  }
                  case "close" ->
                      throw way == Way.THROWS
                          ? new IllegalStateException("close by the test")
                          : new NoClassDefFoundError("close by the test");
                  default ->
                      switch (way) {
                        case THROWS -> throw new IllegalStateException("by the test");
                        case THROWS_AN_ERROR -> throw new NoClassDefFoundError("by the test");
                        case GIVES_A_STAGE_THAT_THROWS ->
                            isWithoutStage(method) ? null : throwingStage();
                        case FAILS_THE_STAGE_WITH_AN_ERROR ->
                            isWithoutStage(method)
                                ? null
                                : CompletableFuture.failedFuture(
                                    new OutOfMemoryError("by the test"));
                        case GIVES_NULL -> null;
                        case FAILS_THE_STAGE ->
                            isWithoutStage(method)
                                ? null
                                : CompletableFuture.failedFuture(
                                    new IllegalStateException("by the test"));
                        case GIVES_NULL_IN_THE_STAGE ->
                            isWithoutStage(method) ? null : CompletableFuture.completedFuture(null);
                      };
                });
  }

  private static boolean isWithoutStage(Method method) {
    return method.getName().equals("watch") || method.getName().equals("leave");
  }

  /** A stage of another make, which throws whatever is asked of it. */
  private static Object throwingStage() {
    return Proxy.newProxyInstance(
        BrokenNodeTest.class.getClassLoader(),
        new Class<?>[] {CompletionStage.class},
        (proxy, method, arguments) -> {
          throw new AssertionError("a stage, by the test");
        });
  }

  private Redlock clientWith(Way way) {
    RedlockBuilder builder = Redlock.builder().node(broken(way));
    rig.stores.forEach(store -> builder.node(rig.invariants.node(store)));
    return rig.invariants.client(builder.ticker(rig.time).scheduler(rig.time).build());
  }

  @ParameterizedTest
  @EnumSource
  void minorityThatIsBrokenDoesNotKeepAnybodyFromTheLock(Way way) {
    Redlock client = clientWith(way);
    for (EntryPoint entryPoint : EntryPoint.values()) {
      LockCall call = entryPoint.call(client, Rig.request(ms(3_000), ms(0)));
      assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
      assertThat(call.lease().extend(ms(3_000))).isTrue();
      assertThat(call.finish()).isEmpty();
      assertThat(rig.held()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void leaseIsExtendedAndReleased(Way way) {
    Redlock client = clientWith(way);
    LockCall call = EntryPoint.USING_ASYNC.call(client, Rig.request(ms(3_000), ms(0)));
    rig.time.advance(ms(60_000));
    assertThat(call.lease().isValid()).isTrue();
    assertThat(call.finish()).isEmpty();
    assertThat(rig.held()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void waiterGetsTheLockInTheEnd(Way way) {
    Redlock client = clientWith(way);
    rig.holdForeign(1, ms(60_000));
    rig.holdForeign(2, ms(60_000));
    LockRequest request = Rig.request(ms(3_000), ms(120_000));
    LockCall call = EntryPoint.ACQUIRE_ASYNC.call(client, request);
    LockCall second = EntryPoint.ACQUIRE_ASYNC.call(client, request);
    rig.time.advance(ms(10_000));
    assertThat(call.isWaiting()).isTrue();
    rig.releaseForeign();
    rig.time.advance(ms(2_000));
    assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    assertThat(call.finish()).isEmpty();
    rig.time.advance(ms(2_000));
    assertThat(second.outcome()).isEqualTo(Outcome.GRANTED);
    assertThat(second.finish()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void lostRoundIsCleanedUpOnTheOthers(Way way) {
    Redlock client = clientWith(way);
    rig.holdForeign(1, ms(60_000));
    for (EntryPoint entryPoint : EntryPoint.values()) {
      LockCall call = entryPoint.call(client, Rig.request(ms(3_000), ms(0)));
      assertThat(call.outcome()).isEqualTo(Outcome.BUSY);
      assertThat(rig.held()).containsExactly(1);
    }
  }

  @Test
  void onlyNodeThatThrowsIsUnreachableAndNotAHang() {
    Redlock client =
        rig.invariants.client(
            Redlock.builder()
                .node(broken(Way.THROWS))
                .ticker(rig.time)
                .scheduler(rig.time)
                .build());
    for (EntryPoint entryPoint : EntryPoint.values()) {
      LockCall call = entryPoint.call(client, Rig.request(ms(3_000), ms(0)));
      assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
      assertThat(call.failure()).hasMessageContaining("by the test");
    }
  }

  @Test
  void remainingTimeOfAgesIsNoHang() {
    InMemoryNode store = new InMemoryNode("ages", rig.time);
    PlainNode ages =
        new PlainNode(store) {
          @Override
          public CompletionStage<GrantReply> grant(GrantRequest request) {
            return CompletableFuture.completedFuture(
                new GrantReply.Refused(
                    1,
                    new Holder(
                        "foreign",
                        Optional.empty(),
                        Optional.of(Duration.ofMillis(Long.MAX_VALUE)))));
          }
        };
    Redlock client =
        rig.invariants.client(
            Redlock.builder().node(ages).ticker(rig.time).scheduler(rig.time).build());
    LockCall call = EntryPoint.ACQUIRE_ASYNC.call(client, Rig.request(ms(3_000), ms(5_000)));
    rig.time.advance(ms(5_000));
    assertThat(call.outcome()).isEqualTo(Outcome.BUSY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"extend", "confirm", "release", "status", "inspect", "watch"})
  void onlyNodeThatThrowsAnErrorInOneVerbHangsNobodyAndTheLossIsReported(String verb) {
    AtomicBoolean broken = new AtomicBoolean();
    InMemoryNode store = new InMemoryNode("n", rig.time);
    LockNode node =
        (LockNode)
            Proxy.newProxyInstance(
                BrokenNodeTest.class.getClassLoader(),
                new Class<?>[] {LockNode.class},
                (proxy, method, arguments) -> {
                  if (broken.get() && method.getName().equals(verb)) {
                    throw new NoClassDefFoundError(verb + " by the test");
                  }
                  return method.invoke(store, arguments);
                });
    Redlock client =
        rig.invariants.client(
            Redlock.builder().node(node).ticker(rig.time).scheduler(rig.time).build());
    LockRequest request =
        LockRequest.builder(Rig.R).ttl(ms(3_000)).maxWait(ms(0)).autoExtend(true).build();
    LockCall call = EntryPoint.ACQUIRE_ASYNC.call(client, request);
    List<LossReason> losses = new ArrayList<>();
    call.lease().onLost(losses::add);
    broken.set(true);
    LockCall waiting = EntryPoint.ACQUIRE_ASYNC.call(client, Rig.request(ms(3_000), ms(10_000)));
    rig.time.advance(ms(2_969));
    boolean losing = verb.equals("extend");
    assertThat(losses).isEqualTo(losing ? List.of(LossReason.EXPIRED) : List.of());
    assertThat(call.finish().isPresent()).isEqualTo(losing);
    rig.time.advance(ms(20_000));
    assertThat(waiting.outcome()).isNotNull();
    assertThat(waiting.finish()).isNotNull();
    broken.set(false);
    rig.time.advance(ms(20_000));
  }
}
