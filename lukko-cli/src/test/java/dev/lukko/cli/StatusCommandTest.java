package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServers;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StatusCommandTest {

  private RedisServers servers;
  private LockClient locks;

  @BeforeEach
  void start() {
    servers = RedisServers.start(3);
    locks = Redlock.builder().nodes(RedisNode.builder().connectAll(servers.urls())).build();
  }

  @AfterEach
  void close() {
    locks.close();
    servers.close();
  }

  @Test
  void aHeldLockIsShownWithItsHolderAndEachNode() {
    try (Lease lease = hold("nightly")) {
      Invocation status = status("nightly");

      assertThat(status.exitCode()).isZero();
      assertThat(status.err()).isEmpty();
      assertThat(status.out())
          .startsWith("nightly: held (3 of 3 nodes answered)\n")
          .containsPattern("holder +\\d+@\\S+ the backup \\(3 of 3 nodes\\)\n")
          .containsPattern("since +20\\S+Z \\(\\d+(\\.\\d)? m?s ago\\)\n")
          .containsPattern("remaining +(5 min 0 s|4 min 5\\d s)\n")
          .containsPattern("token +" + lease.fencingToken() + "\n")
          .containsPattern(
              "node +127.0.0.1:"
                  + servers.get(2).port()
                  + " +held, .* left, counter "
                  + lease.fencingToken()
                  + "\n");
    }
  }

  @Test
  void aHeldLockIsOneJsonObject() throws JsonProcessingException {
    try (Lease lease = hold("nightly")) {
      JsonNode json = json(status("--json", "nightly"));

      assertThat(json.path("resource").asText()).isEqualTo("nightly");
      assertThat(json.path("state").asText()).isEqualTo("held");
      assertThat(json.path("nodesAnswered").asInt()).isEqualTo(3);
      assertThat(json.path("quorum").asInt()).isEqualTo(2);
      assertThat(json.path("holders")).hasSize(1);
      JsonNode holder = json.path("holders").path(0);
      assertThat(holder.path("description").asText()).contains("the backup");
      assertThat(holder.path("fencingToken").asLong()).isEqualTo(lease.fencingToken());
      assertThat(holder.path("remainingMillis").asLong()).isBetween(1L, 300_000L);
      assertThat(holder.path("nodes").asInt()).isEqualTo(3);
      assertThat(Instant.parse(holder.path("since").asText())).isBefore(Instant.now());
      assertThat(json.path("nodes"))
          .hasSize(3)
          .allSatisfy(
              node -> {
                assertThat(node.path("answered").asBoolean()).isTrue();
                assertThat(node.path("counter").asLong()).isEqualTo(lease.fencingToken());
                assertThat(node.path("entries").path(0).path("fingerprint"))
                    .isEqualTo(holder.path("fingerprint"));
              });
    }
  }

  @Test
  void aFreeLockIsShownAsFree() throws JsonProcessingException {
    Invocation status = status("nightly");

    assertThat(status.exitCode()).isZero();
    assertThat(status.out()).startsWith("nightly: free (3 of 3 nodes answered)\n");
    JsonNode json = json(status("--json", "nightly"));
    assertThat(json.path("state").asText()).isEqualTo("free");
    assertThat(json.path("holders")).isEmpty();
    assertThat(json.path("nodes").path(0).path("counter").isNull()).isTrue();
  }

  @Test
  void aNodeThatHangsIsNamedAndTheOthersDecide() throws JsonProcessingException {
    try (Lease lease = hold("nightly")) {
      servers.get(1).pause();

      JsonNode json = json(status("--json", "nightly"));

      assertThat(json.path("state").asText()).isEqualTo("held");
      assertThat(json.path("nodesAnswered").asInt()).isEqualTo(2);
      assertThat(json.path("holders").path(0).path("fencingToken").asLong())
          .isEqualTo(lease.fencingToken());
      JsonNode hung = json.path("nodes").path(1);
      assertThat(hung.path("answered").asBoolean()).isFalse();
      assertThat(hung.path("error").asText()).isNotEmpty();
      servers.get(1).resume();
    }
  }

  @Test
  void withoutAQuorumEachNodeIsShownAndTheExitCodeSaysSo() throws JsonProcessingException {
    servers.get(0).kill();
    servers.get(1).kill();

    Invocation status = status("nightly");

    assertThat(status.exitCode()).isEqualTo(69);
    assertThat(status.err())
        .isEqualTo("lukko: no quorum for lock 'nightly': 1 of 3 nodes answered, 2 needed\n");
    assertThat(status.out())
        .startsWith("nightly: unknown (1 of 3 nodes answered, 2 needed)\n")
        .containsPattern("node +127.0.0.1:" + servers.get(0).port() + " +no answer: connection");
    Invocation asJson = status("--json", "nightly");
    assertThat(asJson.exitCode()).isEqualTo(69);
    assertThat(parse(asJson.out()).path("state").asText()).isEqualTo("unknown");
  }

  @Test
  void aPlainKeyOfAnotherLibraryIsAHolder() {
    servers.all().forEach(server -> server.command("SET", "nightly", "theirs", "PX", "60000"));

    Invocation status = status("--key-format", "plain", "nightly");

    assertThat(status.out()).contains("a foreign owner 'theirs' (3 of 3 nodes)");
  }

  @Test
  void anEntryWithoutQuorumIsShownApart() {
    servers.get(0).command("SET", "nightly", "theirs", "PX", "60000");

    Invocation status = status("--key-format", "plain", "nightly");

    assertThat(status.out())
        .startsWith("nightly: free (3 of 3 nodes answered)\n")
        .contains("entry of   a foreign owner 'theirs' (1 of 3 nodes)")
        .doesNotContain("holder", "remaining");
  }

  @Test
  void aPasswordIsUsedAndNeverShown() {
    try (RedisServers guarded = RedisServers.start(1, options -> options.password("s3cret"))) {
      String url = "redis://:s3cret@127.0.0.1:" + guarded.get(0).port();
      String wrong = "redis://:wr0ng@127.0.0.1:" + guarded.get(0).port();

      Invocation right = Invocation.of("status", "--node", url, "nightly");
      Invocation refused = Invocation.of("status", "--node", wrong, "nightly");

      assertThat(right.exitCode()).isZero();
      assertThat(right.out() + right.err()).doesNotContain("s3cret");
      assertThat(refused.exitCode()).isEqualTo(69);
      assertThat(refused.out() + refused.err()).contains("WRONGPASS").doesNotContain("wr0ng");
    }
  }

  private Lease hold(String resource) {
    return locks.acquire(
        LockRequest.builder(resource).ttl(Duration.ofMinutes(5)).metadata("the backup").build());
  }

  private Invocation status(String... args) {
    String[] all = new String[args.length + 1];
    all[0] = "status";
    System.arraycopy(args, 0, all, 1, args.length);
    return Invocation.with(Map.of("LUKKO_NODES", String.join(",", servers.urls())), all);
  }

  private static JsonNode json(Invocation status) throws JsonProcessingException {
    assertThat(status.exitCode()).isZero();
    assertThat(status.err()).isEmpty();
    return parse(status.out());
  }

  private static JsonNode parse(String text) throws JsonProcessingException {
    assertThat(text).endsWith("\n").containsOnlyOnce("\n");
    return new ObjectMapper().readTree(text);
  }
}
