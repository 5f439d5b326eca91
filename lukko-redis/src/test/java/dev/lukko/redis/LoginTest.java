package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.redis.protocol.Login;
import dev.lukko.redis.protocol.Secret;
import dev.lukko.redis.testing.Requests;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.testkit.RedisServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Users and passwords at a real server, and where they must not be seen. */
class LoginTest {
  private static final String PASSWORD = "s3cr3t-Pa/ss";
  private static final String WRONG = "wr0ng-Pa/ss";

  @TempDir private Path folder;
  private RedisServer server;
  private final CopyOnWriteArrayList<String> logged = new CopyOnWriteArrayList<>();
  private final Handler ears =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          logged.add(
              record.getMessage()
                  + Arrays.toString(record.getParameters())
                  + trace(record.getThrown()));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void start() {
    server = RedisServer.builder().password("s3cr3t-of-default").start();
    allow("alice", PASSWORD);
    Logger.getLogger("").addHandler(ears);
  }

  @AfterEach
  void stop() {
    Logger.getLogger("").removeHandler(ears);
    server.close();
    assertThat(logged).noneMatch(line -> line.contains("s3cr3t") || line.contains("wr0ng"));
  }

  private void allow(String user, String password) {
    server.command("ACL", "SETUSER", user, "on", ">" + password, "~*", "&*", "+@all");
  }

  private static String trace(Throwable thrown) {
    StringWriter text = new StringWriter();
    if (thrown != null) {
      thrown.printStackTrace(new PrintWriter(text));
    }
    return text.toString();
  }

  private String at() {
    return "127.0.0.1:" + server.port();
  }

  private static void assertLocks(RedisNode node) {
    Requests.admit(node);
    granted(node, entry("a", "r"), 5);
    assertThat(node + node.name()).doesNotContain("s3cr3t");
  }

  @Test
  void userAndPasswordInTheUrlAreUsed() {
    try (RedisNode node = RedisNode.connect("redis://alice:s3cr3t-Pa%2Fss@" + at())) {
      assertLocks(node);
      assertThat(node.name()).isEqualTo(at());
    }
  }

  @Test
  void passwordFromAFileIsReadAnewForEachConnection() throws IOException {
    Path file = Files.writeString(folder.resolve("password"), PASSWORD + "\n");
    RedisNodeBuilder builder = RedisNode.builder().user("alice").passwordFile(file);
    try (RedisNode node = builder.connect("redis://" + at());
        RedisNode byUrl = RedisNode.connect("redis://alice@" + at() + "?passwordFile=" + file)) {
      assertLocks(node);
      assertLocks(byUrl);
      Files.writeString(file, "another");
      server.restart(); // all users but the default one are gone
      allow("alice", "another");
      await().until(() -> answer(node.status()).state() != State.UNREACHABLE);
      assertLocks(node);
    }
  }

  @Test
  void wrongPasswordIsSaidButNeverShown() {
    String url = "redis://alice:wr0ng-Pa%2Fss@" + at();
    try (RedisNode node = RedisNode.connect(url);
        Redlock locks = Redlock.builder().nodes(List.of(node)).build()) {
      assertThatThrownBy(
              () -> locks.acquire(LockRequest.builder("r").ttl(Duration.ofMinutes(1)).build()))
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContaining("WRONGPASS")
          .satisfies(error -> assertThat(trace(error)).doesNotContain("wr0ng", WRONG));
      assertThat(node.toString()).doesNotContain("wr0ng");
    }
    assertThat(logged).anyMatch(line -> line.contains("WRONGPASS"));
  }

  @Test
  void secretsShowTheirSourceOnly() throws IOException {
    Path empty = Files.writeString(folder.resolve("empty"), "\n");
    Path binary = Files.write(folder.resolve("binary"), new byte[] {(byte) 0xC3, 0x28});
    assertThat(Secret.text(PASSWORD).toString()).isEqualTo("Secret[given as a text]");
    assertThat(new Login("alice", Secret.text(PASSWORD)).toString()).doesNotContain(PASSWORD);
    assertThat(Secret.variable("V", Map.of("V", PASSWORD)::get).read()).isEqualTo(PASSWORD);
    assertThat(Secret.variable("V", Map.of("V", PASSWORD)::get).toString())
        .isEqualTo("Secret[variable V]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.builder().passwordFile(empty))
        .withMessageContaining("(file " + empty + ") is empty");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.builder().passwordFile(binary))
        .withMessageContaining("cannot be read: MalformedInputException")
        .withNoCause();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.builder().passwordVariable("LUKKO_NO_SUCH"))
        .withMessageContaining("LUKKO_NO_SUCH");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.builder().user("alice").connect("redis://" + at()))
        .withMessageContaining("user is \"alice\", and there is no password");
  }

  @Test
  void databaseAndClientNameAreThoseOfTheAddress() {
    String url = "redis://alice:s3cr3t-Pa%2Fss@" + at() + "/3?clientName=billing";
    try (RedisNode node = RedisNode.connect(url);
        RedisNode other =
            RedisNode.builder()
                .clientName("shipping")
                .connect("redis://alice:s3cr3t-Pa%2Fss@" + at())) {
      assertLocks(node);
      assertLocks(other); // another database, so that no entry is in the way
      assertThat(node.name()).isEqualTo(at() + "/3");
      assertThat(String.valueOf(server.command("CLIENT", "LIST")))
          .containsPattern("name=billing .* db=3 .*user=alice")
          .containsPattern("name=shipping .* db=0 .*user=alice");
    }
  }
}
