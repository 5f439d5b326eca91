package dev.lukko.redis;

import static dev.lukko.redis.FiveServers.R;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** F1 to F3 against real servers. */
class TokensOnServersTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final String COUNTER = "lukko:{r}:token";

  @RegisterExtension static final FiveServers servers = new FiveServers();

  private static LockRequest request() {
    return LockRequest.builder(R).ttl(TTL).maxWait(Duration.ZERO).autoExtend(false).build();
  }

  @ParameterizedTest
  @EnumSource
  void holderOnOtherServersHasAHigherTokenThoughOneCounterWasFarAhead(EntryPoint entryPoint) {
    servers.server(1).command("SET", COUNTER, "4000000000000000");
    Redlock early = servers.client();
    Redlock late = servers.client();
    servers.pause(4, 5);
    LockCall first = entryPoint.call(early, request());
    long token = first.lease().fencingToken();
    assertThat(token).isGreaterThan(4_000_000_000_000_000L);
    assertThat(first.finish()).isEmpty();
    servers.resume();
    servers.pause(1, 2);

    LockCall second = entryPoint.call(late, request());

    assertThat(second.lease().fencingToken()).isGreaterThan(token);
    assertThat(second.finish()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void extensionDoesNotChangeTheTokenAndTheStaleHandleKeepsItsOwn(EntryPoint entryPoint) {
    Redlock client = servers.client();
    LockCall call = entryPoint.call(client, request());
    long token = call.lease().fencingToken();
    assertThat(call.lease().extend(TTL)).isTrue();
    assertThat(call.lease().fencingToken()).isEqualTo(token);
    assertThat(call.finish()).isEmpty();
    try (Lease next = client.acquire(request())) {
      assertThat(next.fencingToken()).isGreaterThan(token);
      assertThat(call.lease().fencingToken()).isEqualTo(token);
    }
  }

  @FaultRow(30)
  @ParameterizedTest
  @EnumSource
  void allServersLoseTheirDataThenTheNextTokenIsHigherAllTheSame(EntryPoint entryPoint) {
    LockCall first = entryPoint.call(servers.client(), request());
    long token = first.lease().fencingToken();
    assertThat(first.finish()).isEmpty();
    for (RedisServer server : servers.all()) {
      server.command("FLUSHALL");
    }
    LockCall second = entryPoint.call(servers.client(), request());
    assertThat(second.lease().fencingToken()).isGreaterThan(token);
    assertThat(second.finish()).isEmpty();
  }

  @Test
  void everyLaterGrantHasAHigherTokenWhicheverServersAreStopped() {
    Random random = new Random(20260131);
    List<Redlock> clients = List.of(servers.client(), servers.client(), servers.client());
    List<Integer> numbers = new ArrayList<>(List.of(1, 2, 3, 4, 5));
    long last = 0;
    for (int i = 0; i < 60; i++) {
      Collections.shuffle(numbers, random);
      for (int number : numbers.subList(0, 2)) {
        servers.server(number).command("INCRBY", COUNTER, Integer.toString(random.nextInt(1_000)));
        servers.pause(number);
      }
      Lease lease =
          clients
              .get(random.nextInt(3))
              .acquire(LockRequest.builder(R).ttl(TTL).maxWait(TTL).waitForQuorum(true).build());
      assertThat(lease.fencingToken()).as("step %s", i).isGreaterThan(last);
      last = lease.fencingToken();
      lease.close();
      servers.resume();
    }
  }
}
