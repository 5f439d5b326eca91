package dev.lukko.redis.testing;

import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.has;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every class of server error on real servers: on two of five the lock works and the cause is told;
 * on three it fails, with the causes of all, and never as if somebody held it. Whatever the driver.
 */
public abstract class ServerErrorsContract {
  private static final Duration TTL = Duration.ofSeconds(30);

  private FaultBed bed;
  private List<LockNode> nodes;
  private Redlock client;

  /** Makes nodes, with a command timeout of 10 s. */
  protected abstract List<? extends LockNode> connect(List<String> urls);

  @BeforeEach
  void start() {
    bed = new FaultBed(this::connect, options -> {});
    nodes = bed.nodes("");
    client = bed.client(nodes, TTL, options -> {});
    client.acquire("warm", TTL).close();
  }

  @AfterEach
  void stop() {
    bed.close();
  }

  @ParameterizedTest
  @EnumSource
  void errorOfTwoServersIsToldAndOfThreeIsTheFailure(ServerFault fault) {
    inflict(fault, 0);
    inflict(fault, 1);
    try (Lease lease = client.acquire(LockRequest.of("r", TTL))) {
      assertThat(lease.isValid()).isTrue();
      // While it is held: a request that its release overtakes is withdrawn and tells nothing.
      for (int i = 0; i < 2; i++) {
        bed.awaitTold(bed.server(i), fault + ": ");
      }
    }
    inflict(fault, 2);
    QuorumUnavailableException failure = failureOfAnImmediateCall();
    assertNamesCauseOfThree(failure, fault + ": ");
    bed.first(3).forEach(fault::end);
    await().until(() -> worksAgain());
  }

  private void inflict(ServerFault fault, int index) {
    fault.inflict(bed.server(index));
    if (fault == ServerFault.NOAUTH) {
      bed.proxy(index).resetConnections();
      await().until(() -> answer(nodes.get(index).status()).detail().startsWith("NOAUTH: "));
    }
  }

  private QuorumUnavailableException failureOfAnImmediateCall() {
    LockRequest atOnce = LockRequest.builder("r").ttl(TTL).maxWait(Duration.ZERO).build();
    QuorumUnavailableException failure =
        catchThrowableOfType(QuorumUnavailableException.class, () -> client.acquire(atOnce));
    assertThat(failure).isNotNull();
    return failure;
  }

  private void assertNamesCauseOfThree(QuorumUnavailableException failure, String... anyOf) {
    String causes = Stream.of(anyOf).map(Pattern::quote).collect(Collectors.joining("|", "(", ")"));
    for (int i = 0; i < 3; i++) {
      assertThat(failure.getMessage())
          .containsPattern(bed.proxy(i).port() + ": (failed|unknown), [^;]*" + causes);
    }
  }

  private boolean worksAgain() {
    try (Lease lease = client.acquire("r", TTL)) {
      return lease.isValid();
    }
  }

  @Test
  void silenceOfTwoServersIsNoObstacleAndOfThreeIsTheFailure() {
    bed.first(2).forEach(RedisServer::pause);
    assertThat(worksAgain()).isTrue();
    bed.server(2).pause();
    // The node's time and the call's end in the same moment here.
    assertNamesCauseOfThree(
        failureOfAnImmediateCall(),
        "no answer within 500 ms",
        "no answer before the time of the call was over");
    bed.first(3).forEach(RedisServer::resume);
    await().until(this::worksAgain);
    bed.awaitNoEntry();
  }

  @Test
  void connectionsOfTwoServersThatAreResetAreNoObstacleAndOfThreeAreTheFailure() {
    for (int i = 0; i < 2; i++) {
      bed.proxy(i).resetAtNextReply(has("EVALSHA"));
    }
    assertThat(worksAgain()).isTrue();
    for (int i = 0; i < 2; i++) {
      bed.awaitTold(bed.server(i), "connection lost: ");
    }
    await().until(() -> nodes.stream().noneMatch(node -> node.toString().contains("not")));
    for (int i = 0; i < 3; i++) {
      bed.proxy(i).resetAtNextReply(has("EVALSHA"));
    }
    assertNamesCauseOfThree(failureOfAnImmediateCall(), "connection lost: ");
    await().until(this::worksAgain);
    bed.awaitNoEntry();
  }

  @Test
  void scriptsThatAreForgottenOnAllServersCostNoFailure() {
    bed.servers.all().forEach(server -> server.command("SCRIPT", "FLUSH"));
    try (Lease lease = client.acquire("r", TTL)) {
      bed.servers.all().forEach(server -> server.command("SCRIPT", "FLUSH"));
      assertThat(lease.extend(TTL)).isTrue();
      bed.servers.all().forEach(server -> server.command("SCRIPT", "FLUSH"));
      assertThat(lease.release().status()).isEqualTo(dev.lukko.ReleaseOutcome.Status.RELEASED);
    }
    assertThat(bed.events).noneMatch(event -> event.toString().contains("NOSCRIPT"));
  }
}
