package dev.lukko.redis.testing;

import static dev.lukko.redis.testing.Requests.TTL;
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
import dev.lukko.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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
        RedisServer.builder()
            .config("enable-debug-command yes", "busy-reply-threshold 20", "save 3600 1000000")
            .start();
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
    server.command("CONFIG", "SET", "maxmemory", "1");
    assertFailedAndNothingApplied("OOM: ");
    assertThat(extend(node, entry("a", "held"), TTL)).isEqualTo(new ExtendReply.Extended());
    assertThat(release(node, entry("a", "held"))).isEqualTo(new ReleaseReply.Released());
  }

  @Test
  void misconfFails() throws IOException {
    Files.createDirectories(server.directory().resolve("dump.rdb").resolve("in-the-way"));
    server.command("BGSAVE");
    await()
        .until(
            () ->
                String.valueOf(server.command("INFO", "persistence"))
                    .contains("rdb_last_bgsave_status:err"));
    assertFailedAndNothingApplied("MISCONF: ");
  }

  @Test
  void readonlyReplicaFails() {
    server.command("REPLICAOF", "127.0.0.1", "1");
    assertFailedAndNothingApplied("READONLY: ");
  }

  @Test
  void masterdownFails() {
    server.command("CONFIG", "SET", "replica-serve-stale-data", "no");
    server.command("REPLICAOF", "127.0.0.1", "1");
    assertThat(grant(node, entry("a", "r"), 5)).satisfies(reply -> failed(reply, "MASTERDOWN: "));
  }

  @Test
  void noreplicasFails() {
    server.command("CONFIG", "SET", "min-replicas-to-write", "1");
    assertFailedAndNothingApplied("NOREPLICAS: ");
  }

  @Test
  void busyScriptFailsAndIsNotKilled() {
    granted(node, entry("a", "held"), 5);
    CompletableFuture<Object> busy =
        CompletableFuture.supplyAsync(
            () -> server.command("EVAL", "local n = 0 while n >= 0 do n = n + 1 end", "0"));
    await().until(() -> grant(node, entry("a", "r"), 5) instanceof Failed);
    assertThat(grant(node, entry("a", "r"), 5)).satisfies(reply -> failed(reply, "BUSY: "));
    assertThat(release(node, entry("a", "held"))).satisfies(reply -> failed(reply, "BUSY: "));
    assertThat(busy).isNotDone();
    server.command("SCRIPT", "KILL");
    // the refused release is sent again without being asked for
    await().until(() -> server.command("EXISTS", "lukko:{held}").equals(0L));
    granted(node, entry("b", "held"), 5);
  }

  @Test
  void loadingServerFailsAndRefusedReleaseIsSentAgain() {
    granted(node, entry("a", "held"), 5);
    for (int i = 0; i < 200; i++) {
      server.command("SET", "filler" + i, "x".repeat(2_000));
    }
    server.command("CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
    server.command("CONFIG", "SET", "key-load-delay", "20000");
    CompletableFuture<Object> reload =
        CompletableFuture.supplyAsync(() -> server.command("DEBUG", "RELOAD"));
    await().until(() -> grant(node, entry("a", "r"), 5) instanceof Failed);
    assertThat(grant(node, entry("a", "r"), 5)).satisfies(reply -> failed(reply, "LOADING: "));
    assertThat(release(node, entry("a", "held"))).satisfies(reply -> failed(reply, "LOADING: "));
    server.command("CONFIG", "SET", "key-load-delay", "0");
    assertThat(reload).succeedsWithin(Requests.BOUND);
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
    server.command("ACL", "SETUSER", "lock", "on", ">pw", "~*", "&*", "+@all", "-evalsha");
    try (LockNode limited = connect(server.url().replace("//", "//lock:pw@"))) {
      assertThat(grant(limited, entry("a", "r"), 5)).satisfies(reply -> failed(reply, "NOPERM: "));
      server.command("ACL", "SETUSER", "lock", "+evalsha");
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
    server.kill();
    await().until(() -> failedWith(grant(node, entry("a", "r"), 5), "connection refused: "));
    assertThat(extend(node, entry("a", "r"), TTL)).isInstanceOf(Failed.class);
    assertThat(release(node, entry("a", "r")))
        .isInstanceOfSatisfying(
            Unknown.class, unknown -> assertThat(unknown.detail()).contains("kept"));
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
      server.pause();
      assertThat(grant(impatient, entry("a", "r"), 5))
          .isInstanceOfSatisfying(
              Unknown.class, unknown -> assertThat(unknown.detail()).startsWith("timeout: "));
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
    assertThat(answer(node.repair(entry("a", "p", "q"), TTL, 5)))
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
