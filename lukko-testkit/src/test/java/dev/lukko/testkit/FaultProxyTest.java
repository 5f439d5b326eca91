package dev.lukko.testkit;

import static dev.lukko.testkit.FaultProxy.Direction.TO_CLIENT;
import static dev.lukko.testkit.FaultProxy.Direction.TO_SERVER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FaultProxyTest {

  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(50);

  private static RedisServer server;
  private FaultProxy proxy;

  @BeforeAll
  static void startServer() {
    server = RedisServer.start();
  }

  @AfterAll
  static void closeServer() {
    server.close();
  }

  @BeforeEach
  void startProxy() {
    server.command("FLUSHALL");
    proxy = FaultProxy.to(server);
  }

  @AfterEach
  void closeProxyAndFindNoThreadLeft() {
    proxy.close();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .noneMatch(name -> name.startsWith("lukko-proxy-") && name.endsWith("-" + proxy.port()));
  }

  @Test
  void passesAndCounts() throws IOException {
    try (RespConnection client = connect(LONG)) {
      assertThat(client.call("SET", "k", "v")).isEqualTo("OK");
      assertThat(client.call("GET", "k")).isEqualTo("v");
    }
    assertThat(proxy.acceptedConnections()).isEqualTo(1);
    assertThat(proxy.passedBytes(TO_SERVER)).isEqualTo(27 + 20);
    assertThat(proxy.passedBytes(TO_CLIENT)).isEqualTo(5 + 7);
    await().until(() -> proxy.openConnections() == 0);
  }

  @Test
  void heldRequestsReachTheServerOnlyAfterHeal() throws IOException {
    try (RespConnection client = connect(LONG)) {
      proxy.hold(TO_SERVER);
      CompletableFuture<Object> reply = callAsync(client, "INCR", "k");
      await().until(() -> proxy.waitingBytes(TO_SERVER) > 0);
      assertThat(server.command("GET", "k")).isNull();

      proxy.heal();

      assertThat(reply).succeedsWithin(LONG).isEqualTo(1L);
    }
  }

  @Test
  void heldReplyMeansTheServerHasDoneTheWork() throws IOException {
    try (RespConnection client = connect(LONG)) {
      proxy.hold(TO_CLIENT);
      CompletableFuture<Object> reply = callAsync(client, "INCR", "k");
      await().until(() -> proxy.waitingBytes(TO_CLIENT) > 0);
      assertThat(server.command("GET", "k")).isEqualTo("1");
      assertThat(reply).isNotDone();

      proxy.heal();

      assertThat(reply).succeedsWithin(LONG).isEqualTo(1L);
    }
  }

  @Test
  void holdBothWaysIsSilenceOnAnOpenConnection() throws IOException {
    proxy.hold();
    try (RespConnection client = connect(SHORT)) {
      assertThatThrownBy(() -> client.call("PING")).isInstanceOf(SocketTimeoutException.class);
    }
  }

  @Test
  void oneHeldPacketGoesOnWhenReleased() throws IOException {
    HeldPacket packet = proxy.holdNext(TO_SERVER, has("second"));
    try (RespConnection client = connect(LONG);
        RespConnection other = connect(LONG)) {
      assertThat(client.call("SET", "first", "1")).isEqualTo("OK");
      CompletableFuture<Object> reply = callAsync(client, "SET", "second", "1");
      assertThat(packet.arrival())
          .succeedsWithin(LONG)
          .satisfies(bytes -> assertThat(text(bytes)).contains("second"));
      assertThat(other.call("GET", "second")).isNull();

      packet.release();

      assertThat(reply).succeedsWithin(LONG).isEqualTo("OK");
      assertThat(client.call("SET", "second", "2")).isEqualTo("OK");
    }
  }

  @Test
  void lostReplyLeavesTheWorkDoneAndTheConnectionSilent() throws IOException {
    CompletableFuture<byte[]> lost = proxy.loseNextReply(has("INCR"));
    try (RespConnection client = connect(SHORT);
        RespConnection other = connect(LONG)) {
      assertThat(client.call("PING")).isEqualTo("PONG");
      assertThatThrownBy(() -> client.call("INCR", "k")).isInstanceOf(SocketTimeoutException.class);
      assertThat(lost).succeedsWithin(LONG).extracting(FaultProxyTest::text).isEqualTo(":1\r\n");
      assertThat(server.command("GET", "k")).isEqualTo("1");
      assertThat(other.call("INCR", "k")).isEqualTo(2L);

      proxy.heal();

      assertThatThrownBy(() -> client.call("PING")).isInstanceOf(SocketException.class);
    }
  }

  @Test
  void resetAtReplyLeavesTheWorkDone() throws IOException {
    CompletableFuture<byte[]> lost = proxy.resetAtNextReply(has("INCR"));
    try (RespConnection client = connect(LONG)) {
      assertThatThrownBy(() -> client.call("INCR", "k"))
          .isInstanceOf(SocketException.class)
          .hasMessageContaining("reset");
      assertThat(lost).succeedsWithin(LONG);
      assertThat(server.command("GET", "k")).isEqualTo("1");
    }
    try (RespConnection client = connect(LONG)) {
      assertThat(client.call("INCR", "k")).isEqualTo(2L);
    }
  }

  @Test
  void resetAtRequestKeepsItFromTheServer() throws IOException {
    CompletableFuture<byte[]> lost = proxy.resetAtNextRequest(has("INCR"));
    try (RespConnection client = connect(LONG)) {
      assertThatThrownBy(() -> client.call("INCR", "k"))
          .isInstanceOf(SocketException.class)
          .hasMessageContaining("reset");
      assertThat(lost)
          .succeedsWithin(LONG)
          .extracting(FaultProxyTest::text)
          .asString()
          .contains("INCR");
      assertThat(server.command("GET", "k")).isNull();
    }
  }

  @Test
  void delayedReplyArrivesInTheEndAndHealEndsTheWait() throws IOException {
    proxy.delay(TO_CLIENT, Duration.ofMinutes(10));
    try (RespConnection client = connect(LONG)) {
      CompletableFuture<Object> reply = callAsync(client, "INCR", "k");
      await().until(() -> proxy.waitingBytes(TO_CLIENT) > 0);
      assertThat(reply).isNotDone();
      proxy.heal();
      assertThat(reply).succeedsWithin(LONG).isEqualTo(1L);

      long startNanos = System.nanoTime();
      proxy.delay(TO_SERVER, Duration.ofMillis(30));
      assertThat(client.call("INCR", "k")).isEqualTo(2L);
      assertThat(System.nanoTime() - startNanos).isGreaterThanOrEqualTo(30_000_000L);
    }
    assertThatThrownBy(() -> proxy.delay(TO_SERVER, Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT-0.001S");
  }

  @Test
  void resetConnectionsBreaksOpenOnesAndTakesNewOnes() throws IOException {
    try (RespConnection client = connect(LONG)) {
      assertThat(client.call("PING")).isEqualTo("PONG");
      proxy.resetConnections();
      assertThatThrownBy(() -> client.call("PING")).isInstanceOf(SocketException.class);
    }
    try (RespConnection client = connect(LONG)) {
      assertThat(client.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void cutRefusesUntilHealed() throws IOException {
    try (RespConnection client = connect(LONG)) {
      assertThat(client.call("PING")).isEqualTo("PONG");
      proxy.cut();
      assertThatThrownBy(() -> client.call("PING")).isInstanceOf(SocketException.class);
      assertThatThrownBy(() -> connect(LONG)).isInstanceOf(ConnectException.class);
    }
    proxy.heal();
    try (RespConnection client = connect(LONG)) {
      assertThat(client.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void refusalKeepsOpenConnections() throws IOException {
    try (RespConnection client = connect(LONG)) {
      assertThat(client.call("PING")).isEqualTo("PONG");
      proxy.refuseConnections();
      assertThatThrownBy(() -> connect(LONG)).isInstanceOf(ConnectException.class);
      assertThat(client.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void healForgetsFaultsThatDidNotHappen() throws IOException {
    CompletableFuture<byte[]> lost = proxy.loseNextReply(has("PING"));
    HeldPacket held = proxy.holdNext(TO_SERVER, has("PING"));
    proxy.heal();
    assertThat(lost).isCancelled();
    assertThat(held.arrival())
        .failsWithin(LONG)
        .withThrowableThat()
        .withCauseInstanceOf(CancellationException.class);
    try (RespConnection client = connect(LONG)) {
      assertThat(client.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void serverThatIsDownResetsTheClient() throws IOException {
    try (RedisServer other = RedisServer.start();
        FaultProxy inFront = FaultProxy.to(other)) {
      other.kill();
      assertThatThrownBy(
              () -> {
                try (RespConnection client = new RespConnection(inFront.port(), null, LONG)) {
                  client.call("PING");
                }
              })
          .isInstanceOf(IOException.class);
      await().until(() -> inFront.openConnections() == 0);
    }
  }

  @Test
  void closeEndsConnectionsThatAreHeld() throws IOException {
    HeldPacket packet = proxy.holdNext(TO_SERVER, has("PING"));
    try (RespConnection client = connect(LONG)) {
      CompletableFuture<Object> reply = callAsync(client, "PING");
      assertThat(packet.arrival()).succeedsWithin(LONG);
      proxy.close();
      assertThat(reply).failsWithin(LONG);
    }
    assertThatThrownBy(proxy::heal).isInstanceOf(IllegalStateException.class);
  }

  private RespConnection connect(Duration timeout) throws IOException {
    return new RespConnection(proxy.port(), null, timeout);
  }

  private static CompletableFuture<Object> callAsync(RespConnection client, String... command) {
    return CompletableFuture.supplyAsync(
            () -> {
              try {
                return client.call(command);
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            })
        .orTimeout(60, TimeUnit.SECONDS);
  }

  private static Predicate<byte[]> has(String text) {
    return bytes -> text(bytes).contains(text);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
