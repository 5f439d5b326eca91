package dev.lukko.redis.testing;

import static dev.lukko.redis.testing.Requests.TTL;
import static dev.lukko.redis.testing.Requests.admit;
import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.extend;
import static dev.lukko.redis.testing.Requests.grant;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.inspect;
import static dev.lukko.redis.testing.Requests.refused;
import static dev.lukko.redis.testing.Requests.release;
import static dev.lukko.redis.testing.Requests.repair;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What one node answers when its server fails or refuses, whatever the driver. */
public abstract class NodeErrorsContract {
  private RedisServer server;
  private LockNode node;

  /** Makes a node with the default settings. */
  protected LockNode connect(String url) {
    return connect(url, Duration.ofSeconds(10));
  }

  protected abstract LockNode connect(String url, Duration commandTimeout);

  @BeforeEach
  void start() {
    server =
        RedisServer.builder().config("enable-debug-command yes", "busy-reply-threshold 20").start();
    node = Requests.admitted(connect(server.url()));
  }

  @AfterEach
  void stop() {
    node.close();
    server.close();
  }

  @Test
  void oomFailsGrantsButReleaseAndExtendWork() {
    granted(node, entry("a", "held"), 5);
    ServerFault.OOM.inflict(server);
    assertFailedAndNothingApplied("OOM: ");
    assertThat(extend(node, entry("a", "held"), TTL)).isEqualTo(new ExtendReply.Extended());
    assertThat(release(node, entry("a", "held"))).isEqualTo(new ReleaseReply.Released());
  }

  @ParameterizedTest
  @EnumSource(names = {"MISCONF", "READONLY", "NOREPLICAS"})
  void serverThatRefusesWritesFailsAndAppliesNothing(ServerFault fault) {
    fault.inflict(server);
    assertFailedAndNothingApplied(fault + ": ");
  }

  @Test
  void masterdownFails() {
    ServerFault.MASTERDOWN.inflict(server);
    assertThat(grant(node, entry("a", "r"), 5)).satisfies(reply -> failed(reply, "MASTERDOWN: "));
  }

  @Test
  void busyScriptFailsAndIsNotKilled() {
    granted(node, entry("a", "held"), 5);
    ServerFault.BUSY.inflict(server);
    assertRefusedReleaseIsSentAgainAfter(ServerFault.BUSY);
    granted(node, entry("b", "held"), 5);
  }

  @Test
  void loadingServerFailsAndRefusedReleaseIsSentAgain() {
    granted(node, entry("a", "held"), 5);
    ServerFault.LOADING.inflict(server);
    assertRefusedReleaseIsSentAgainAfter(ServerFault.LOADING);
  }

  private void assertRefusedReleaseIsSentAgainAfter(ServerFault fault) {
    assertThat(grant(node, entry("a", "r"), 5)).satisfies(reply -> failed(reply, fault + ": "));
    assertThat(release(node, entry("a", "held"))).satisfies(reply -> failed(reply, fault + ": "));
    assertThat(ServerFault.errorOf(server)).as("goes on").startsWith(fault.name());
    fault.end(server);
    // without being asked for
    await().until(() -> server.command("EXISTS", "lukko:{held}").equals(0L));
  }

  @Test
  void missingPasswordFailsAsNoauthAndWrongOneAsWrongpassWithoutShowingIt() {
    try (RedisServer guarded = RedisServer.builder().password("correct").start()) {
      try (LockNode without = connect(guarded.url())) {
        awaitCause(without, "NOAUTH: ");
      }
      String wrong = guarded.url().replace("//", "//:hunter2@");
      try (LockNode node = connect(wrong)) {
        GrantReply reply = awaitCause(node, "WRONGPASS: ");
        assertThat(reply.toString() + node + node.name()).doesNotContain("hunter2");
        for (Throwable t = ((Failed) reply).cause(); t != null; t = t.getCause()) {
          assertThat(t.toString()).doesNotContain("hunter2");
        }
        // recovers without being made anew
        guarded.command("ACL", "SETUSER", "default", ">hunter2");
        await().until(() -> grant(node, entry("a", "r"), 5) instanceof GrantReply.Granted);
      }
    }
  }

  /**
   * The driver loses the server's words now and then when a handshake is refused; the next try has
   * them.
   */
  private static GrantReply awaitCause(LockNode node, String code) {
    return await()
        .until(
            () -> grant(node, entry("a", "r"), 5),
            reply -> reply instanceof Failed failed && failed.detail().startsWith(code));
  }

  @Test
  void missingRightFailsAsNopermAndRecovers() {
    server.command("ACL", "SETUSER", "lock", "on", ">pw", "~*", "&*", "+@all", "-evalsha", "-eval");
    try (LockNode limited = connect(server.url().replace("//", "//lock:pw@"))) {
      assertThat(grant(limited, entry("a", "r"), 5)).satisfies(reply -> failed(reply, "NOPERM: "));
      server.command("ACL", "SETUSER", "lock", "+evalsha", "+eval");
      granted(limited, entry("a", "r"), 5);
    }
  }

  @Test
  void missingRightToPublishDoesNotSpoilTheRelease() {
    server.command("ACL", "SETUSER", "lock", "on", ">pw", "~*", "resetchannels", "+@all");
    try (LockNode limited = connect(server.url().replace("//", "//lock:pw@"))) {
      granted(limited, entry("a", "r"), 5);
      assertThat(release(limited, entry("a", "r"))).isEqualTo(new ReleaseReply.Released());
    }
  }

  @Test
  void keyOfAnotherTypeCountsAsHeldAndSaysSo() {
    server.command("LPUSH", "lukko:{r}", "x");
    assertThat(refused(node, entry("a", "r"), 5).holder().description())
        .isEqualTo("a foreign key 'lukko:{r}' of type list");
    assertThat(refused(node, entry("a", "r"), 5).holder().remaining()).isEmpty();
    assertThat(extend(node, entry("a", "r"), TTL)).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(repair(node, entry("a", "r"), TTL, 9)).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(release(node, entry("a", "r"))).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(inspect(node, "r").holders())
        .singleElement()
        .satisfies(holder -> assertThat(holder.description()).contains("of type list"));
    assertThat(server.command("LRANGE", "lukko:{r}", "0", "-1")).isEqualTo(List.of("x"));
  }

  @Test
  void counterOfAnotherTypeFails() {
    server.command("LPUSH", "lukko:{r}:token", "x");
    assertThat(grant(node, entry("b", "r"), 6)).satisfies(reply -> failed(reply, "COUNTER: "));
    server.command("DEL", "lukko:{r}:token");
    server.command("SET", "lukko:{r}:token", "x");
    assertThat(grant(node, entry("b", "r"), 6)).satisfies(reply -> failed(reply, "COUNTER: "));
    assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
  }

  @Test
  void serverThatIsDownFailsAtOnceWithTheCause() {
    granted(node, entry("before", "s"), 5);
    server.kill();
    await().until(() -> failedWith(grant(node, entry("a", "r"), 5), "connection refused: "));
    assertThat(extend(node, entry("a", "r"), TTL)).isInstanceOf(Failed.class);
    assertThat(release(node, entry("before", "s")))
        .isInstanceOfSatisfying(
            Unknown.class, unknown -> assertThat(unknown.detail()).contains("kept"));
    assertThat(release(node, entry("a", "r")))
        .as("what was never sent need not be released")
        .isInstanceOf(Failed.class);
    assertThat(node.inspect("r").toCompletableFuture()).failsWithin(Requests.BOUND);
    assertThat(node.toString()).contains("not connected");
  }

  @Test
  void unknownHostFailsWithTheCause() {
    try (LockNode nowhere = connect("redis://no-such-host.invalid")) {
      await().until(() -> failedWith(grant(nowhere, entry("a", "r"), 5), "unknown host: "));
    }
  }

  @Test
  void hungServerIsUnknownAfterTheCommandTimeout() {
    try (LockNode impatient = connect(server.url(), Duration.ofMillis(100))) {
      admit(impatient);
      server.pause();
      assertThat(grant(impatient, entry("a", "r"), 5))
          .isInstanceOfSatisfying(
              Unknown.class, unknown -> assertThat(unknown.detail()).startsWith("timeout: "));
    }
  }

  @Test
  void releaseWhoseConnectionBrokeIsSentThoughTheNodeIsClosedAtOnce() {
    try (FaultProxy proxy = FaultProxy.to(server)) {
      LockNode broken = connect(proxy.url("redis"));
      granted(broken, entry("a", "r"), 5);
      proxy.resetAtNextRequest(Requests.has("a"));
      assertThat(release(broken, entry("a", "r"))).isInstanceOf(Unknown.class);
      broken.close();
      await().until(() -> server.command("EXISTS", "lukko:{r}").equals(0L));
    }
  }

  @Test
  void refusedReleaseIsSentOnceMoreWhenTheNodeIsClosed() {
    granted(node, entry("a", "r"), 5);
    server.command("ACL", "SETUSER", "default", "-evalsha", "-eval");
    assertThat(release(node, entry("a", "r"))).satisfies(reply -> failed(reply, "NOPERM: "));
    server.command("ACL", "SETUSER", "default", "+evalsha", "+eval");
    node.close();
    await().until(() -> server.command("EXISTS", "lukko:{r}").equals(0L));
  }

  @Test
  void closeEndsThoughAReleaseCannotBeSentToAServerThatHangsOrIsDown() {
    granted(node, entry("a", "r"), 5);
    server.kill();
    await().until(() -> release(node, entry("a", "r")) instanceof Unknown);
    node.close();
    server.restart();
    try (FaultProxy proxy = FaultProxy.to(server)) {
      LockNode hanging = connect(proxy.url("redis"));
      await().until(() -> grant(hanging, entry("b", "s"), 5) instanceof GrantReply.Granted);
      server.pause();
      proxy.resetConnections();
      await().until(() -> hanging.toString().contains("not connected"));
      assertThat(release(hanging, entry("b", "s"))).isInstanceOf(Unknown.class);
      hanging.close();
      assertThat(grant(hanging, entry("c", "s"), 6)).satisfies(reply -> failed(reply, "closed: "));
      server.resume();
    }
  }

  @Test
  void closedNodeFailsEverything() {
    node.close();
    node.close();
    assertThat(grant(node, entry("a", "r"), 5)).satisfies(reply -> failed(reply, "closed: "));
    assertThat(release(node, entry("a", "r"))).satisfies(reply -> failed(reply, "closed: "));
  }

  private void assertFailedAndNothingApplied(String code) {
    Object before = server.command("DBSIZE");
    assertThat(grant(node, entry("a", "p", "q"), 5)).satisfies(reply -> failed(reply, code));
    assertThat(answer(node.repair(entry("a", "p", "q"), TTL, 5, Long.MAX_VALUE)))
        .satisfies(reply -> failed(reply, code));
    assertThat(server.command("DBSIZE")).isEqualTo(before);
  }

  private static void failed(Object reply, String detail) {
    assertThat(reply)
        .isInstanceOfSatisfying(
            Failed.class, failed -> assertThat(failed.detail()).startsWith(detail));
  }

  private static boolean failedWith(Object reply, String detail) {
    return reply instanceof Failed failed && failed.detail().startsWith(detail);
  }
}
