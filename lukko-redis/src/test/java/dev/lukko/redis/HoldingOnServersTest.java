package dev.lukko.redis;

import static dev.lukko.redis.FiveServers.KEY;
import static dev.lukko.redis.FiveServers.R;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockEvent;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.fencing.InMemoryFence;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRow;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** H1, H2, H3, H5, H6, H9 against real servers. */
class HoldingOnServersTest {
  @RegisterExtension static final FiveServers servers = new FiveServers();

  private static LockRequest request(Duration ttl, boolean autoExtend) {
    return LockRequest.builder(R).ttl(ttl).maxWait(Duration.ZERO).autoExtend(autoExtend).build();
  }

  private static LossReason lossOf(LockCall call) {
    Throwable end = call.finish().orElseThrow();
    assertThat(end).isInstanceOf(LeaseLostException.class);
    return ((LeaseLostException) end).reason();
  }

  @ParameterizedTest
  @EnumSource
  void allServersStoppedAfterTheGrantThenLossIsSignalledByTheLocalClock(EntryPoint entryPoint) {
    // The driver gives a request up after ten seconds; nobody may wait for that.
    Redlock client = servers.client();
    LockCall call = entryPoint.call(client, request(Duration.ofMillis(500), true));
    CompletableFuture<LossReason> lost = call.lease().lost().toCompletableFuture();
    servers.pause(1, 2, 3, 4, 5);
    // Both are told by the local clock; the second if the machine was too busy for the timer.
    assertThat(lost)
        .succeedsWithin(Duration.ofSeconds(5))
        .isIn(LossReason.EXPIRED, LossReason.PAUSE_DETECTED);
    assertThat(call.lease().isValid()).isFalse();
    assertThat(lossOf(call)).isIn(LossReason.EXPIRED, LossReason.PAUSE_DETECTED);
  }

  @ParameterizedTest
  @EnumSource
  void entryStolenOnAMajorityThenTheFirstExtensionTellsIt(EntryPoint entryPoint) {
    Redlock client = servers.client();
    LockCall call = entryPoint.call(client, request(Duration.ofSeconds(3), true));
    CompletableFuture<LossReason> lost = call.lease().lost().toCompletableFuture();
    for (int i = 2; i <= 4; i++) {
      servers.server(i).command("SET", KEY, "a thief", "PX", "3000");
    }
    assertThat(lost).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(LossReason.TAKEN_OVER);
    assertThat(lossOf(call)).isEqualTo(LossReason.TAKEN_OVER);
    for (int i = 2; i <= 4; i++) {
      assertThat(servers.server(i).command("DEL", KEY))
          .as("the thief's entry stands")
          .isEqualTo(1L);
    }
  }

  @ParameterizedTest
  @EnumSource
  void entryDeletedOnAMajorityThenTheReleaseTellsIt(EntryPoint entryPoint) {
    Redlock client = servers.client();
    LockCall call = entryPoint.call(client, request(Duration.ofSeconds(20), false));
    for (RedisServer server : servers.all()) {
      await().until(() -> server.command("DEL", KEY).equals(1L));
    }
    assertThat(lossOf(call)).isEqualTo(LossReason.NOT_HELD);
  }

  @ParameterizedTest
  @EnumSource
  void oneExtensionTimesOutThenTheNextOneGoesOn(EntryPoint entryPoint) {
    List<LockEvent> events = new CopyOnWriteArrayList<>();
    Redlock client =
        servers.client(
            builder -> builder.listener(events::add).nodeTimeout(Duration.ofMillis(500)));
    LockCall call = entryPoint.call(client, request(Duration.ofSeconds(6), true));
    assertThat(call.lease().isValid()).isTrue();
    for (int i = 1; i <= 3; i++) {
      servers.proxy(i).hold(FaultProxy.Direction.TO_CLIENT);
    }
    await().until(() -> events.stream().anyMatch(LockEvent.ExtensionFailed.class::isInstance));
    assertThat(call.lease().isValid()).isTrue();
    servers.proxies().forEach(FaultProxy::heal);
    await().until(() -> events.stream().anyMatch(LockEvent.Extended.class::isInstance));
    assertThat(call.lease().isValid()).isTrue();
    assertThat(events).doesNotHaveAnyElementsOfTypes(LockEvent.Lost.class);
    assertThat(call.finish()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void connectionsResetDuringTheHoldThenTheLeaseGoesOn(EntryPoint entryPoint) {
    List<LockEvent> events = new CopyOnWriteArrayList<>();
    Redlock client = servers.client(builder -> builder.listener(events::add));
    LockCall call = entryPoint.call(client, request(Duration.ofSeconds(6), true));
    assertThat(call.lease().isValid()).isTrue();
    servers.proxies().forEach(FaultProxy::resetConnections);
    await()
        .untilAsserted(
            () -> assertThat(events).hasAtLeastOneElementOfType(LockEvent.Extended.class));
    assertThat(call.lease().isValid()).isTrue();
    assertThat(call.finish()).isEmpty();
  }

  @FaultRow(28)
  @ParameterizedTest
  @EnumSource
  void serverRestartsEmptyThenItDoesNotGiveASecondHolderItsVote(EntryPoint entryPoint) {
    Redlock first = servers.client();
    servers.client().acquire("warm-up", Duration.ofSeconds(20)).close(); // All nodes are marked.
    servers.proxy(4).hold(FaultProxy.Direction.TO_SERVER);
    servers.proxy(5).hold(FaultProxy.Direction.TO_SERVER);
    LockCall holder = entryPoint.call(first, request(Duration.ofSeconds(20), false));
    assertThat(holder.lease().isValid()).isTrue();
    servers.server(3).restart();
    Redlock direct =
        Redlock.builder()
            .nodes(
                RedisNode.connectAll(
                    servers.all().stream().map(RedisServer::url).toArray(String[]::new)))
            .build();
    try (direct) {
      for (int i = 0; i < 3; i++) {
        LockCall second = EntryPoint.ACQUIRE.call(direct, request(Duration.ofSeconds(20), false));
        assertThat(second.outcome()).isNotEqualTo(LockCall.Outcome.GRANTED);
        assertThat(second.failure()).hasMessageContaining("" + servers.server(3).port());
      }
      assertThat(holder.lease().isValid()).isTrue();
    }
    servers.heal();
    holder.finish();
  }

  @FaultRow(6)
  @Test
  void processOfTheHolderStoppedPastTheTtlThenItFirstSeesThatItsLeaseIsNotValid() throws Exception {
    Redlock client = servers.client();
    InMemoryFence fence = new InMemoryFence();
    try (HolderProcess holder =
        HolderProcess.start(servers.all().stream().map(RedisServer::url).toList())) {
      long oldToken = holder.token();
      holder.pause();
      LockRequest request =
          LockRequest.builder(R)
              .ttl(Duration.ofSeconds(20))
              .maxWait(Duration.ofSeconds(60))
              .build();
      try (Lease next = client.acquire(request)) {
        assertThat(next.fencingToken()).isGreaterThan(oldToken);
        fence.check(next);
        holder.resume();
        assertThat(holder.firstSeenValidity()).isEqualTo("false");
        assertThat(next.isValid()).isTrue();
        assertThatThrownBy(() -> fence.check(R, oldToken)).isInstanceOf(StaleTokenException.class);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void bodyThrowsAfterTheLossThenItsExceptionIsSeen(EntryPoint entryPoint) {
    Redlock client = servers.client();
    LockCall call = entryPoint.call(client, request(Duration.ofMillis(500), false));
    await().until(() -> !call.lease().isValid());
    Exception failure = new Exception("by the body");
    Optional<Throwable> seen = call.finishWith(failure);
    assertThat(seen).containsSame(failure);
  }
}
