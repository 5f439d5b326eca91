package dev.lukko.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.redis.RedisNode;
import dev.lukko.redis.RedisRights;
import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorCommandTest {
  private RedisServers servers;

  @BeforeEach
  void start() {
    servers = RedisServers.start(3, RedisServer.Builder::appendOnly);
  }

  @AfterEach
  void close() {
    servers.close();
  }

  /** A client's first lock makes the servers nodes. */
  private void deploy() {
    try (LockClient locks =
        Redlock.builder().nodes(RedisNode.builder().connectAll(servers.urls())).build()) {
      locks.acquire(LockRequest.builder("first").ttl(Duration.ofMinutes(1)).build()).release();
    }
    // the client answers with the majority; the third record may come a little later
    await()
        .until(
            () ->
                servers.all().stream()
                    .allMatch(server -> server.command("EXISTS", "lukko:\u0001fleets").equals(1L)));
  }

  private Invocation doctor(String... args) {
    List<String> all = new ArrayList<>(List.of("doctor"));
    all.addAll(List.of(args));
    return Invocation.with(
        Map.of("LUKKO_NODES", String.join(",", servers.urls())), all.toArray(String[]::new));
  }

  private static JsonNode json(Invocation invocation) throws JsonProcessingException {
    assertThat(invocation.out()).endsWith("\n").containsOnlyOnce("\n");
    return new ObjectMapper().readTree(invocation.out());
  }

  private String address(int index) {
    return "redis://127.0.0.1:" + servers.get(index).port();
  }

  @Test
  void healthyNodesAreShownWithTheQuorumAndTheLeastRights() {
    deploy();

    Invocation doctor = doctor();

    assertThat(doctor.err()).isEmpty();
    assertThat(doctor.out())
        .contains("node " + address(0) + ": votes\n", "node " + address(2) + ": votes\n")
        .containsPattern("latency +p50 \\d+\\.\\d ms, p99 \\d+\\.\\d ms \\(\\d+ round trips\\)\n")
        .containsPattern("server +Redis 7.0.15, master, up for \\d+ m?s, run [0-9a-f]{40}\n")
        .containsPattern("memory +noeviction, .* used, no limit\n")
        .containsPattern("persistence +append-only file, appendfsync always, no snapshots\n")
        .containsPattern("clock +\\d+\\.\\d ms (behind|ahead of) ours .*\n")
        .containsPattern("entries +0 held, 1 counters\n")
        .containsPattern("user +default\n")
        .contains("quorum: 3 of 3 nodes vote, 2 needed; 1 more may fail\n")
        .contains("  " + RedisRights.aclSetUser("lukko", RedisKeyFormat.PREFIXED, List.of()) + "\n")
        .doesNotContain("ERROR", "warning");
    assertThat(doctor.exitCode()).isZero();
    assertThat(servers.get(0).command("KEYS", "*doctor*")).isEqualTo(List.of());
  }

  @Test
  void healthyNodesAreOneJsonObject() throws JsonProcessingException {
    deploy();

    JsonNode json = json(doctor("--json"));

    assertThat(json.path("healthy").asBoolean()).isTrue();
    assertThat(json.path("voting").asInt()).isEqualTo(3);
    assertThat(json.path("quorum").asInt()).isEqualTo(2);
    assertThat(json.path("spare").asInt()).isEqualTo(1);
    assertThat(json.path("leastRights").asText()).startsWith("ACL SETUSER lukko ");
    assertThat(json.path("nodes")).hasSize(3);
    JsonNode node = json.path("nodes").path(1);
    assertThat(node.path("node").asText()).isEqualTo(address(1));
    assertThat(node.path("verdict").asText()).isEqualTo("votes");
    assertThat(node.path("state").path("name").asText()).isEqualTo("voting");
    assertThat(node.path("latency").path("trips").asInt()).isPositive();
    assertThat(node.path("server").path("run").asText()).hasSize(40);
    assertThat(node.path("persistence").path("appendfsync").asText()).isEqualTo("always");
    assertThat(node.path("clock").path("offsetMicros").isNumber()).isTrue();
    assertThat(node.path("findings")).isEmpty();
  }

  @Test
  void newServersAwaitAdmissionWhichIsNoError() {
    Invocation doctor = doctor();

    assertThat(doctor.exitCode()).isZero();
    assertThat(doctor.out())
        .contains("node " + address(0) + ": awaits admission\n")
        .contains("warning  awaits admission: without a record of the fleet")
        .contains(
            "quorum: 0 of 3 nodes vote, 2 needed; 3 more with the first lock, which admits new"
                + " nodes; 1 more may fail\n");
  }

  @Test
  void differentNodeSetsAreReportedAtEachServerThatTheyShare() {
    deploy();

    Invocation doctor = Invocation.with(Map.of("LUKKO_NODES", servers.urls().get(0)), "doctor");

    assertThat(doctor.out())
        .contains("warning  serves fleet #")
        .contains("of 3 nodes, and 1 is asked");
    assertThat(doctor().out()).doesNotContain("serves fleet");
  }

  @Test
  void hungAndDeadNodesAreNamedAndDelayNothingBeyondTheTimeout() {
    deploy();
    servers.get(0).pause();
    servers.get(1).kill();

    Invocation doctor = doctor("--timeout", "500ms");

    assertThat(doctor.exitCode()).isEqualTo(1);
    assertThat(doctor.out())
        .contains("node " + address(0) + ": unreachable\n  ERROR    cannot be asked: no answer")
        .contains("node " + address(1) + ": unreachable\n  ERROR    cannot be asked: connection")
        .contains("node " + address(2) + ": votes\n")
        .contains("quorum: 1 of 3 nodes vote, 2 needed; no lock can be taken\n")
        .contains("    do       see whether the server runs");
    servers.get(0).resume();
  }

  @Test
  void aServerThatLeavesAQuestionUnansweredIsNotCalledUnreachable() {
    deploy();
    try (FaultProxy proxy = FaultProxy.to(servers.get(0))) {
      proxy.holdNext(
          Direction.TO_SERVER, packet -> new String(packet, ISO_8859_1).contains("SCAN"));

      Invocation doctor =
          Invocation.with(Map.of("LUKKO_NODES", proxy.url("redis")), "doctor", "--timeout", "3s");

      assertThat(doctor.out())
          .contains("warning  has not answered everything: no answer within 3 s")
          .contains("ask again with a longer --timeout")
          .doesNotContain("unreachable");
    }
  }

  @Test
  void theProcessEndsThoughAServerHangs(@TempDir Path folder) throws InterruptedException {
    servers.get(0).pause();
    try (ChildJvm doctor =
        ChildJvm.start(
            folder,
            Map.of("LUKKO_NODES", String.join(",", servers.urls())),
            "",
            "doctor",
            "--timeout",
            "200ms")) {
      assertThat(doctor.exitCode()).isIn(0, 1);
    } finally {
      servers.get(0).resume();
    }
  }

  @Test
  void replicaAndServerTwiceAreErrors() {
    deploy();
    servers.get(1).command("REPLICAOF", "127.0.0.1", "" + servers.get(0).port());
    String again = "redis://localhost:" + servers.get(2).port();

    Invocation doctor =
        Invocation.of(
            "doctor",
            "--node",
            address(0),
            "--node",
            address(1),
            "--node",
            address(2),
            "--node",
            again);

    assertThat(doctor.exitCode()).isEqualTo(1);
    assertThat(doctor.out())
        .contains("node " + address(1) + ": unfit to vote\n")
        .contains("ERROR    can never vote: it is a replica of 127.0.0.1")
        .contains("ERROR    is the same server as " + address(2))
        .contains("warning  the number of nodes, 4, is even")
        .contains("warning  has 1 replica");
  }

  @Test
  void evictionFullMemoryAndEntriesThatCannotBeAreFound() {
    deploy();
    RedisServer evicting = servers.get(0);
    evicting.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    evicting.command("CONFIG", "SET", "maxmemory", "1000000000");
    servers.get(1).command("CONFIG", "SET", "maxmemory", "1");
    servers.get(2).command("SET", "lukko:{long}", "x", "PX", "3600000");
    servers.get(2).command("SET", "lukko:{endless}", "x");

    Invocation doctor = doctor();

    assertThat(doctor.exitCode()).isEqualTo(1);
    assertThat(doctor.out())
        .contains("ERROR    its maxmemory-policy is allkeys-lru")
        .contains("breaks   when its memory is full, it drops held locks")
        .contains("ERROR    refuses to write: OOM")
        .contains("live longer than anybody may ask for (5 min 0 s): lukko:{long}\n")
        .contains("has entries that never end: lukko:{endless}\n");
    assertThat(doctor("--max-ttl", "2h").out()).doesNotContain("live longer");
  }

  @Test
  void restartWithoutPersistenceIsQuarantinedAndSaysForHowLong() {
    try (RedisServers forgetful = RedisServers.start(3)) {
      List<RedisNode> nodes = RedisNode.builder().connectAll(forgetful.urls());
      try (LockClient locks =
          Redlock.builder().nodes(nodes).maxTtl(Duration.ofMinutes(2)).build()) {
        LockRequest request =
            LockRequest.builder("r")
                .ttl(Duration.ofSeconds(10))
                .maxWait(Duration.ofSeconds(10))
                .build();
        locks.acquire(request).release();
        forgetful.get(0).restart();
        await()
            .until(
                () -> {
                  locks.acquire(request).release();
                  return forgetful.get(0).command("EXISTS", "lukko:\u0001fleets").equals(1L);
                });
      }
      Map<String, String> environment = Map.of("LUKKO_NODES", String.join(" ", forgetful.urls()));

      Invocation doctor = Invocation.with(environment, "doctor");
      Invocation status = Invocation.with(environment, "status", "r");
      Invocation asJson = Invocation.with(environment, "status", "--json", "r");

      assertThat(doctor.out())
          .contains(": does not vote yet\n")
          .containsPattern("warning  is quarantined for another 1?\\d+ s: it had forgotten")
          .contains("warning  persists nothing")
          .contains("quorum: 2 of 3 nodes vote, 2 needed; none may fail\n");
      assertThat(doctor.exitCode()).isZero();
      assertThat(status.out())
          .containsPattern("free.*; quarantined for another \\d+ s: it had forgotten everything");
      assertThat(asJson.out()).contains("\"standing\":\"quarantined for another");
    }
  }

  @Test
  void userWithTheLeastRightsHasAllAndOneWithLessIsTold() {
    deploy();
    String line = RedisRights.aclSetUser("few", RedisKeyFormat.PREFIXED, List.of());
    servers.get(0).command(line.replace(">PASSWORD", ">secret").split(" "));
    servers.get(1).command(line.replace(">PASSWORD", ">secret").replace(" +hset", "").split(" "));
    servers.get(1).command("ACL", "SETUSER", "few", "-publish", "+acl|whoami");

    Invocation enough =
        Invocation.of("doctor", "--node", address(0).replace("//", "//few:secret@"));
    Invocation less =
        Invocation.with(
            Map.of("LUKKO_USER", "few", "LUKKO_PASSWORD", "secret"),
            "doctor",
            "--node",
            address(1));

    assertThat(enough.out())
        .doesNotContain("may not use", "secret")
        .containsPattern("user +not told\n");
    assertThat(enough.exitCode()).isZero();
    assertThat(less.out())
        .contains("ERROR    its user few may not use hset, publish\n")
        .contains("breaks   locks fail with NOPERM")
        .doesNotContain("secret");
    assertThat(less.exitCode()).isEqualTo(1);
  }

  @Test
  void passwordIsTakenFromAFileAndAWrongOneNeverShown(@TempDir Path folder) throws Exception {
    try (RedisServer guarded = RedisServer.builder().password("s3cret").start()) {
      Path file = Files.writeString(folder.resolve("password"), "s3cret\n");
      String url = guarded.url();

      Invocation right = Invocation.of("doctor", "--password-file", "" + file, "--node", url);
      Invocation status =
          Invocation.with(Map.of("LUKKO_PASSWORD_FILE", "" + file), "status", "--node", url, "r");
      Invocation wrong =
          Invocation.with(Map.of("LUKKO_PASSWORD", "wr0ng"), "doctor", "--node", url);
      Invocation missing =
          Invocation.of("doctor", "--password-file", folder + "/none", "--node", url);

      assertThat(right.exitCode()).isZero();
      assertThat(status.exitCode()).isZero();
      assertThat(wrong.exitCode()).isEqualTo(1);
      assertThat(wrong.out()).contains("WRONGPASS");
      assertThat(missing.exitCode()).isEqualTo(64);
      assertThat(missing.err()).contains("(file " + folder + "/none) cannot be read");
      for (Invocation each : List.of(right, status, wrong, missing)) {
        assertThat(each.out() + each.err()).doesNotContain("s3cret", "wr0ng");
      }
    }
  }

  @Test
  void helpDoesNotShowThePassword() {
    Invocation help =
        Invocation.with(Map.of("LUKKO_PASSWORD", "s3cret", "LUKKO_USER", "al1ce"), "run", "--help");

    assertThat(help.out()).contains("--password-file", "LUKKO_PASSWORD").doesNotContain("s3cret");
  }

  @Test
  void lockFileOfThisMachineIsLookedAtAndNotMade(@TempDir Path home) {
    Map<String, String> environment = Map.of("XDG_STATE_HOME", home.toString());

    Invocation before = Invocation.with(environment, "doctor");

    assertThat(before.exitCode()).isZero();
    assertThat(before.out())
        .startsWith("no nodes are named (--node, LUKKO_NODES): this is the file ")
        .contains("the first lock makes the file", "clock       does not apply")
        .contains("quorum: 1 of 1 node votes, 1 needed; none may fail\n");
    assertThat(home).isEmptyDirectory();
    assertThat(Invocation.with(environment, "run", "r", "--", "true").exitCode()).isZero();

    Invocation after = Invocation.with(environment, "doctor");

    assertThat(after.out()).contains("the tables are there").containsPattern("latency +p50 \\d");
  }
}
