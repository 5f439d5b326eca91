package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.LockNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A7 and A8: settings and ttls that cannot work are refused, by name, value and rule. */
class SettingsTest {

  static Stream<Arguments> badSettings() {
    Duration negative = Duration.ofNanos(-1);
    Duration ages = Duration.ofDays(40_000);
    return Stream.of(
        bad("driftFactor is -0.1", b -> b.driftFactor(-0.1)),
        bad("driftFactor is 1.0", b -> b.driftFactor(1)),
        bad("driftFactor is NaN", b -> b.driftFactor(Double.NaN)),
        bad("driftBuffer is PT-0.000000001S", b -> b.driftBuffer(negative)),
        bad("retryCount is -1", b -> b.retryCount(-1)),
        bad("retryCount is -2147483648", b -> b.retryCount(Integer.MIN_VALUE)),
        bad("retryDelay is PT-0.000000001S", b -> b.retryDelay(negative)),
        bad("retryDelay is PT960000H", b -> b.retryDelay(ages)),
        bad("retryJitter is PT-0.000000001S", b -> b.retryJitter(negative)),
        bad("extendWhenRemaining is PT0S", b -> b.extendWhenRemaining(Duration.ZERO)),
        bad("nodeTimeout is PT0S", b -> b.nodeTimeout(Duration.ZERO)),
        bad("nodeTimeout is PT0.000999999S", b -> b.nodeTimeout(Duration.ofNanos(999_999))),
        bad("minValidity is PT-0.000000001S", b -> b.minValidity(negative)),
        bad("maxTtl is PT0S", b -> b.maxTtl(Duration.ZERO)),
        bad("description has 61 characters", b -> b.description("x".repeat(61))),
        bad("description has 1 characters", b -> b.description("\n")));
  }

  private static Arguments bad(String message, Consumer<RedlockBuilder> setter) {
    return Arguments.of(message, setter);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badSettings")
  void badSettingIsRefusedAtOnce(String message, Consumer<RedlockBuilder> setter) {
    assertThatThrownBy(() -> setter.accept(Redlock.builder()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message)
        .hasMessageContaining("; it must ");
  }

  @Test
  void nodesMustBeThereAndHaveDifferentNames() {
    assertThatThrownBy(() -> Redlock.builder().build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nodes is empty");
    assertThatThrownBy(() -> Redlock.over(new InMemoryNode("n"), new InMemoryNode("n")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nodes has n twice");
  }

  @Test
  void nodesOfAClientThatCannotBeBuiltAreClosed() {
    AtomicInteger closed = new AtomicInteger();
    LockNode one = closing(closed);
    LockNode two = closing(closed);
    assertThatThrownBy(() -> Redlock.over(one, two))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nodes has n twice");
    assertThat(closed).hasValue(2);
    assertThatThrownBy(() -> Redlock.builder().nodes(List.of(one, two)).closeNodes(false).build())
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(closed).hasValue(2);
  }

  private static LockNode closing(AtomicInteger closed) {
    return new ForwardingNode(new InMemoryNode("n")) {
      @Override
      public void close() {
        closed.incrementAndGet();
      }
    };
  }

  @Test
  void listOfNodesOfAnyKindIsTaken() {
    List<InMemoryNode> nodes = List.of(new InMemoryNode("a"), new InMemoryNode("b"));
    try (Redlock client = Redlock.over(nodes)) {
      assertThat(client).hasToString("Redlock[a, b]");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void ttlNotLongerThanTheDriftIsRefusedBeforeAnythingIsAsked(long ttlMillis) {
    InMemoryNode node = new InMemoryNode();
    try (Redlock client = Redlock.over(node)) {
      LockRequest request = LockRequest.of("r", Duration.ofMillis(ttlMillis));
      for (Consumer<LockRequest> entry :
          List.<Consumer<LockRequest>>of(
              client::acquire,
              client::tryAcquire,
              client::acquireAsync,
              r -> client.run(r, lease -> {}),
              r -> client.using(r, Lease::owner),
              r -> client.usingAsync(r, lease -> null))) {
        assertThatThrownBy(() -> entry.accept(request))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("ttl is PT0.00" + ttlMillis + "S")
            .hasMessageContaining("longer than the drift of");
      }
    }
    assertThat(node.inspect("r").toCompletableFuture().join().counter()).isEmpty();
  }

  @Test
  void shortestTtlAboveTheDriftIsTakenByEveryKindOfCall() {
    try (Redlock client =
        Redlock.builder()
            .node(new InMemoryNode())
            .driftBuffer(Duration.ofNanos(1))
            .driftFactor(0)
            .build()) {
      LockRequest request =
          LockRequest.builder("r").ttl(Duration.ofMillis(1)).autoExtend(true).build();
      Lease lease = client.acquire(request);
      assertThat(lease.resources()).containsExactly("r");
      lease.release();
    }
  }

  @Test
  void ttlMustLeaveMoreThanTheLeastValidity() {
    try (Redlock client =
        Redlock.builder().node(new InMemoryNode()).minValidity(Duration.ofMillis(500)).build()) {
      assertThatThrownBy(() -> client.acquire("r", Duration.ofMillis(507)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("plus minValidity PT0.5S");
      client.acquire("r", Duration.ofMillis(600)).release();
    }
  }

  @Test
  void thresholdForTheExtensionMustFitTheTtl() {
    try (Redlock client =
        Redlock.builder()
            .node(new InMemoryNode())
            .extendWhenRemaining(Duration.ofSeconds(1))
            .build()) {
      assertThatThrownBy(
              () ->
                  client.acquire(
                      LockRequest.builder("r").ttl(Duration.ofSeconds(1)).autoExtend(true).build()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("extendWhenRemaining is PT1S")
          .hasMessageContaining("shorter than the ttl");
      client.acquire("r", Duration.ofSeconds(1)).release();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {3, 4, 6, 7, 20, 1_000, 300_000})
  void everyTtlAboveTheDriftCanBeExtendedByDefault(long ttlMillis) {
    try (Redlock client = Redlock.over(new InMemoryNode())) {
      client
          .acquire(
              LockRequest.builder("r").ttl(Duration.ofMillis(ttlMillis)).autoExtend(true).build())
          .release();
    }
  }

  @Test
  void nodeTimeoutIsAPartOfTheTtlWithinBounds() {
    Settings settings = settings(null);
    assertThat(settings.nodeTimeoutNanos(1_000_000, 0)).isEqualTo(20_000_000);
    assertThat(settings.nodeTimeoutNanos(10_000_000_000L, 0)).isEqualTo(500_000_000);
    assertThat(settings.nodeTimeoutNanos(Long.MAX_VALUE, 0)).isEqualTo(1_000_000_000);
    assertThat(settings(Duration.ofMillis(7)).nodeTimeoutNanos(10_000_000_000L, 0))
        .isEqualTo(7_000_000);
  }

  @Test
  void nodeTimeoutOfShortTtlIsWhatHealthyServersMeetOnABusyMachineUpToAQuarterOfTheTtl() {
    Settings settings = settings(null);
    assertThat(settings.nodeTimeoutNanos(2_000_000_000L, 0)).isEqualTo(200_000_000);
    assertThat(settings.nodeTimeoutNanos(500_000_000, 0)).isEqualTo(125_000_000);
    assertThat(settings.nodeTimeoutNanos(100_000_000, 0)).isEqualTo(25_000_000);
  }

  @Test
  void nodeTimeoutIsTwiceTheSlowestAnswerOfAQuorumUpToAQuarterOfTheTtlAndASecond() {
    Settings settings = settings(null);
    assertThat(settings.nodeTimeoutNanos(5_000_000_000L, 300_000_000)).isEqualTo(600_000_000);
    assertThat(settings.nodeTimeoutNanos(2_000_000_000L, 300_000_000)).isEqualTo(500_000_000);
    assertThat(settings.nodeTimeoutNanos(60_000_000_000L, 30_000_000_000L))
        .isEqualTo(1_000_000_000);
    assertThat(settings(Duration.ofMillis(7)).nodeTimeoutNanos(5_000_000_000L, 300_000_000))
        .isEqualTo(7_000_000);
  }

  private static Settings settings(Duration nodeTimeout) {
    return new Settings(
        0.01,
        2_000_000,
        0,
        0,
        0,
        null,
        nodeTimeout,
        0,
        1,
        null,
        true,
        false,
        false,
        true,
        false,
        "");
  }
}
