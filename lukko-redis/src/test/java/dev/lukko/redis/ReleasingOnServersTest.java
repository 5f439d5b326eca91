package dev.lukko.redis;

import static dev.lukko.redis.FiveServers.KEY;
import static dev.lukko.redis.FiveServers.R;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.NodeAnswer;
import dev.lukko.ReleaseOutcome;
import dev.lukko.ReleaseOutcome.Status;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import dev.lukko.testkit.rows.FaultRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** R1 to R5 against real servers. */
class ReleasingOnServersTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final Duration AGES = Duration.ofMinutes(10);

  @RegisterExtension static final FiveServers servers = new FiveServers();

  private static LockRequest request(Duration ttl) {
    return LockRequest.builder(R).ttl(ttl).maxWait(Duration.ZERO).autoExtend(false).build();
  }

  @Test
  void releaseAfterExpiryReturnsAtOnceThoughAllServersAreStopped() {
    Redlock client = servers.client(builder -> builder.nodeTimeout(AGES));
    Lease lease = client.acquire(request(Duration.ofMillis(500)));
    await().until(() -> !lease.isValid());
    servers.pause(1, 2, 3, 4, 5);
    assertThat(lease.release().status()).isEqualTo(Status.NOT_HELD);
  }

  @Test
  void releaseTwiceAndFromAnotherThreadIsOneRelease() {
    Redlock client = servers.client();
    Lease lease = client.acquire(request(TTL));
    ReleaseOutcome first = CompletableFuture.supplyAsync(lease::release).join();
    assertThat(first.status()).isEqualTo(Status.RELEASED);
    assertThat(lease.release()).isSameAs(first);
  }

  @Test
  void releaseWithServersDownIsUnknownWithTheCausesAndMadeUpForLater() {
    Redlock client = servers.client();
    Lease lease = client.acquire(request(TTL));
    for (int i = 1; i <= 3; i++) {
      servers.proxy(i).cut();
    }
    ReleaseOutcome outcome = lease.release();
    assertThat(outcome.status()).isEqualTo(Status.UNKNOWN);
    assertThat(outcome.answers().subList(0, 3))
        .extracting(NodeAnswer::kind)
        .doesNotContain(NodeAnswer.Kind.RELEASED, NodeAnswer.Kind.NOT_HELD);
    servers.heal();
    await().untilAsserted(() -> assertThat(servers.entries()).isEmpty());
  }

  @Test
  void releaseWithServersStoppedIsBoundedByTheNodeTimeout() {
    Redlock client = servers.client(builder -> builder.nodeTimeout(Duration.ofMillis(100)));
    Lease lease = client.acquire(request(TTL));
    servers.pause(1, 2, 3, 4, 5);
    ReleaseOutcome outcome = lease.release();
    assertThat(outcome.status()).isEqualTo(Status.UNKNOWN);
    assertThat(outcome.describe()).contains("no answer within 100 ms");
  }

  @FaultRow(40)
  @ParameterizedTest
  @EnumSource
  void staleHolderReleasesAndTheNextHoldersEntryStands(EntryPoint entryPoint) {
    Redlock client = servers.client();
    Redlock other = servers.client();
    LockCall stale = entryPoint.call(client, request(Duration.ofSeconds(1)));
    assertThat(stale.outcome()).isEqualTo(Outcome.GRANTED);
    LockRequest patient = LockRequest.builder(R).ttl(TTL).maxWait(AGES).build();
    try (Lease next = other.acquire(patient)) {
      List<Integer> before = holding(next);
      assertThat(stale.finish()).isPresent();
      assertThat(stale.lease().release().status()).isEqualTo(Status.NOT_HELD);
      assertThat(holding(next)).containsAll(before).hasSizeGreaterThanOrEqualTo(3);
    }
  }

  private static List<Integer> holding(Lease lease) {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 1; i <= FiveServers.COUNT; i++) {
      if (lease.owner().equals(servers.server(i).command("GET", KEY))) {
        numbers.add(i);
      }
    }
    return numbers;
  }

  @FaultRow(11)
  @ParameterizedTest
  @EnumSource
  void grantsWhoseRepliesComeAfterTheRoundWasLostAreReleasedAgain(EntryPoint entryPoint) {
    Redlock client = servers.client(builder -> builder.nodeTimeout(Duration.ofMillis(100)));
    servers.proxies().forEach(proxy -> proxy.hold(Direction.TO_CLIENT));
    LockCall call = entryPoint.call(client, request(TTL));
    assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
    servers.heal();
    await().untilAsserted(() -> assertThat(servers.entries()).isEmpty());
  }

  @ParameterizedTest
  @EnumSource
  void grantsThatReachTheServersAfterTheRoundWasLostAreReleasedAgain(EntryPoint entryPoint) {
    Redlock client = servers.client(builder -> builder.nodeTimeout(Duration.ofMillis(100)));
    servers.proxies().forEach(proxy -> proxy.hold(Direction.TO_SERVER));
    LockCall call = entryPoint.call(client, request(TTL));
    assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
    servers.heal();
    await().untilAsserted(() -> assertThat(servers.entries()).isEmpty());
  }

  @FaultRow(12)
  @ParameterizedTest
  @EnumSource
  void grantThatIsLateForTheHoldIsReleasedWithIt(EntryPoint entryPoint) {
    Redlock client = servers.client();
    servers.pause(4, 5);
    LockCall call = entryPoint.call(client, request(TTL));
    assertThat(call.finish()).isEmpty();
    servers.resume();
    await().untilAsserted(() -> assertThat(servers.entries()).isEmpty());
  }

  @FaultRow(44)
  @ParameterizedTest
  @EnumSource
  void callGivenUpBetweenRequestAndReplyLeavesNothing(EntryPoint entryPoint) {
    Redlock client = servers.client(builder -> builder.nodeTimeout(AGES));
    servers.proxies().forEach(proxy -> proxy.hold(Direction.TO_CLIENT));
    LockCall call = entryPoint.call(client, LockRequest.builder(R).ttl(TTL).maxWait(AGES).build());
    await().until(() -> servers.entries().size() == FiveServers.COUNT);
    call.cancel();
    assertThat(call.outcome()).isEqualTo(Outcome.CANCELLED);
    servers.heal();
    await().untilAsserted(() -> assertThat(servers.entries()).isEmpty());
  }

  @FaultRow(44)
  @ParameterizedTest
  @EnumSource
  void closeWhileServersAreStoppedReturnsAndEndsEverything(EntryPoint entryPoint) {
    Redlock client =
        servers.unmanagedClient(builder -> builder.nodeTimeout(Duration.ofMillis(500)));
    LockCall holding = EntryPoint.ACQUIRE_ASYNC.call(client, request(TTL));
    servers.pause(1, 2, 3, 4, 5);
    LockCall waiting =
        entryPoint.call(client, LockRequest.builder("other").ttl(TTL).maxWait(AGES).build());
    client.close();
    assertThat(waiting.outcome()).isEqualTo(Outcome.CLOSED);
    assertThat(holding.lease().isValid()).isFalse();
    // The servers run what they were sent when they wake: grant, then release.
  }

  @Test
  void closeReleasesLiveLeases() {
    for (int i = 0; i < 20; i++) {
      Redlock client = servers.unmanagedClient(builder -> {});
      List<Lease> leases = new ArrayList<>();
      for (String resource : List.of("a", "b", "c", "d")) {
        leases.add(client.acquire(resource, TTL));
      }
      client.close();
      assertThat(leases).noneMatch(Lease::isValid);
      await().untilAsserted(() -> assertThat(servers.entries()).isEmpty());
    }
  }

  @Test
  void thousandClientsOnSharedConnectionsLeaveNothing() {
    List<RedisNode> nodes = servers.nodes();
    for (int i = 0; i < 1_000; i++) {
      Redlock client = Redlock.builder().nodes(nodes).closeNodes(false).build();
      Lease lease = client.acquire(request(TTL));
      if (i % 2 == 0) {
        lease.close();
      }
      client.close();
    }
    await().untilAsserted(() -> assertThat(servers.entries()).isEmpty());
    nodes.forEach(RedisNode::close);
  }

  @Test
  void resetConnectionsInTheMiddleOfReleasesLeaveNothing() {
    Redlock client = servers.client();
    for (int i = 0; i < 30; i++) {
      Lease lease =
          client.acquire(
              LockRequest.builder(R + i).ttl(TTL).maxWait(AGES).waitForQuorum(true).build());
      FaultProxy proxy = servers.proxy(1 + i % 5);
      proxy.resetAtNextRequest(bytes -> true);
      lease.release();
    }
    await().untilAsserted(() -> assertThat(servers.entries()).isEmpty());
  }
}
