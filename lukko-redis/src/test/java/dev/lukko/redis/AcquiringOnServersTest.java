package dev.lukko.redis;

import static dev.lukko.redis.FiveServers.R;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A2, A5, A6, A9, A10, A12, A13, A14 against real servers. */
class AcquiringOnServersTest {
  private static final Duration TTL = Duration.ofSeconds(20);

  /** Longer than any test may take: a call that uses it up fails by its time. */
  private static final Duration AGES = Duration.ofMinutes(10);

  @RegisterExtension static final FiveServers servers = new FiveServers();

  private static LockRequest request(Duration ttl, Duration maxWait) {
    return LockRequest.builder(R).ttl(ttl).maxWait(maxWait).build();
  }

  @FaultRow(10)
  @ParameterizedTest
  @EnumSource
  void repliesThatComeAfterTheTtlExhaustTheValidity(EntryPoint entryPoint) {
    Redlock client = servers.client(builder -> builder.nodeTimeout(Duration.ofSeconds(10)));
    servers
        .proxies()
        .forEach(proxy -> proxy.delay(FaultProxy.Direction.TO_CLIENT, Duration.ofMillis(120)));
    LockCall call = entryPoint.call(client, request(Duration.ofMillis(100), Duration.ZERO));
    assertThat(call.outcome()).isEqualTo(Outcome.EXHAUSTED);
    assertThat(call.failure()).hasMessageContaining("ttl 100 ms");
  }

  @ParameterizedTest
  @EnumSource
  void allServersDownAreToldWithTheirCausesWithoutUsingTheBudget(EntryPoint entryPoint) {
    Redlock client = servers.client();
    servers.proxies().forEach(FaultProxy::cut);
    LockCall call = entryPoint.call(client, request(TTL, AGES));
    assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
    assertThat(call.failure()).hasMessageContaining("0 of 5 nodes answered, 3 needed");
    for (FaultProxy proxy : servers.proxies()) {
      assertThat(call.failure()).hasMessageContaining("127.0.0.1:" + proxy.port());
    }
  }

  @ParameterizedTest
  @EnumSource
  void allServersStoppedAreUnreachableAfterTheNodeTimeoutAndNothingIsLeft(EntryPoint entryPoint) {
    Redlock client = servers.client(builder -> builder.nodeTimeout(Duration.ofMillis(100)));
    servers.pause(1, 2, 3, 4, 5);
    LockCall call = entryPoint.call(client, request(TTL, Duration.ZERO));
    assertThat(call.outcome()).isEqualTo(Outcome.UNREACHABLE);
    assertThat(call.failure().getMessage()) // Two timers of one instant come in either order.
        .containsAnyOf("no answer within 100 ms", "no answer before the time of the call was over");
    // The servers run the grants when they wake; that nothing is left then is checked at the end.
  }

  @Test
  void allServersStoppedAreAskedAgainWithinTheBudgetAndGrantWhenTheyWake() {
    Redlock client = servers.client(builder -> builder.nodeTimeout(Duration.ofMillis(200)));
    Redlock counting =
        servers.client(builder -> builder.nodeTimeout(Duration.ofMillis(200)).retryCount(2));
    servers.pause(1, 2, 3, 4, 5);
    LockCall call = EntryPoint.ACQUIRE_ASYNC.call(client, request(TTL, AGES));
    assertThatThrownBy(() -> counting.acquire("another", TTL))
        .isInstanceOfSatisfying(
            QuorumUnavailableException.class, failure -> assertThat(failure.rounds()).isEqualTo(3));
    assertThat(call.isWaiting()).isTrue();

    servers.resume();

    assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    assertThat(call.finish()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void stoppedMinorityDelaysNobody(EntryPoint entryPoint) {
    Redlock client = servers.client(builder -> builder.nodeTimeout(AGES));
    servers.pause(2, 5);
    for (int i = 0; i < 5; i++) {
      LockCall call = entryPoint.call(client, request(TTL, Duration.ZERO));
      assertThat(call.outcome()).as("%s", call.failure()).isEqualTo(Outcome.GRANTED);
      assertThat(call.finish()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void heldLockIsBusyWithItsHolderWhenTheBudgetEnds(EntryPoint entryPoint) {
    Redlock other = servers.client(builder -> builder.description("4711@web-1"));
    Redlock client = servers.client();
    try (Lease held = other.acquire(R, TTL)) {
      LockCall call = entryPoint.call(client, request(TTL, Duration.ofMillis(150)));
      assertThat(call.outcome()).isEqualTo(Outcome.BUSY);
      if (entryPoint != EntryPoint.TRY_ACQUIRE) {
        assertThat(call.failure()).hasMessageContaining("4711@web-1");
      }
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void tenThreadsAndTenThousandSectionsLoseNoIncrement() throws Exception {
    Redlock client = servers.client();
    LockRequest request = request(TTL, AGES);
    int[] counter = {0};
    ExecutorService threads = Executors.newFixedThreadPool(10);
    try {
      List<Future<?>> work = new ArrayList<>();
      for (int thread = 0; thread < 10; thread++) {
        work.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 1_000; i++) {
                    client.run(request, lease -> counter[0]++);
                  }
                }));
      }
      for (Future<?> each : work) {
        each.get(110, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(counter[0]).isEqualTo(10_000);
  }

  @ParameterizedTest
  @EnumSource
  void loserWithTheSameTextDoesNotTouchTheWinnersEntry(EntryPoint entryPoint) {
    LockRequest request =
        LockRequest.builder(R).ttl(TTL).maxWait(Duration.ZERO).metadata("worker").build();
    Redlock winner = servers.client(builder -> builder.description("same"));
    Redlock loser = servers.client(builder -> builder.description("same"));
    try (Lease lease = winner.acquire(request)) {
      for (int i = 0; i < 10; i++) {
        assertThat(entryPoint.call(loser, request).outcome()).isEqualTo(Outcome.BUSY);
      }
      for (int i = 1; i <= FiveServers.COUNT; i++) {
        int number = i;
        await()
            .untilAsserted(
                () ->
                    assertThat(servers.server(number).command("GET", FiveServers.KEY))
                        .isEqualTo(lease.owner()));
      }
    }
  }

  @FaultRow(36)
  @Test
  void sameServerUnderTwoAddressesIsRefusedAtTheStartByBothNames() {
    int port = servers.server(1).port();
    String[] urls = {
      "redis://127.0.0.1:" + port, servers.server(2).url(), "redis://localhost:" + port
    };
    assertThatThrownBy(() -> Redlock.builder().nodes(RedisNode.connectAll(urls)).build())
        .isInstanceOf(LockException.class)
        .hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("localhost:" + port)
        .hasMessageContaining("same server");
  }

  @Test
  void sameServerThatWasDownAtTheStartDoesNotVoteTwiceLater() {
    FaultProxy twin = FaultProxy.to(servers.server(1));
    try {
      twin.cut();
      String[] urls = {servers.server(1).url(), twin.url("redis"), servers.proxy(2).url("redis")};
      servers.proxy(2).cut();
      // Other tests use these servers in a fleet of five, of which the twin might be one.
      try (Redlock client =
          Redlock.builder().nodes(RedisNode.connectAll(urls)).fleet("twins").build()) {
        twin.heal();
        LockRequest patient =
            LockRequest.builder(R)
                .ttl(TTL)
                .maxWait(Duration.ofSeconds(3))
                .waitForQuorum(true)
                .build();
        assertThatThrownBy(() -> client.acquire(patient))
            .isInstanceOf(QuorumUnavailableException.class)
            .hasMessageContaining("the same server");
        servers.proxy(2).heal();
        client
            .acquire(LockRequest.builder(R).ttl(TTL).maxWait(AGES).waitForQuorum(true).build())
            .close();
      }
    } finally {
      twin.close();
    }
  }

  @FaultRow(35)
  @Test
  void replicaIsRefusedAtTheStartByItsRole() {
    try (RedisServer replica =
        RedisServer.builder().config("replicaof 127.0.0.1 " + servers.server(1).port()).start()) {
      assertThatThrownBy(() -> Redlock.over(RedisNode.connect(replica.url())))
          .isInstanceOf(LockException.class)
          .hasMessageContaining("127.0.0.1:" + replica.port())
          .hasMessageContaining("replica");
    }
  }

  @ParameterizedTest
  @EnumSource
  void serversThatAreDownAtTheStartJoinWithoutANewClient(EntryPoint entryPoint) {
    for (int i = 1; i <= 3; i++) {
      servers.proxy(i).cut();
    }
    Redlock client = servers.client();
    assertThat(entryPoint.call(client, request(TTL, Duration.ZERO)).failure())
        .isInstanceOf(QuorumUnavailableException.class);
    servers.proxy(2).heal();
    LockRequest patient = LockRequest.builder(R).ttl(TTL).maxWait(AGES).waitForQuorum(true).build();
    LockCall call = entryPoint.call(client, patient);
    assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    assertThat(call.finish()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void lockOfADeadHolderIsTakenAtItsEndAndNotAtTheNextPoll(EntryPoint entryPoint) {
    Redlock dead = servers.unmanagedClient(builder -> builder.releaseOnClose(false));
    dead.acquire(R, Duration.ofMillis(700));
    dead.close();
    Redlock client = servers.client(builder -> builder.retryDelay(AGES));
    LockCall call = entryPoint.call(client, request(TTL, AGES));
    assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
    assertThat(call.finish()).isEmpty();
  }
}
