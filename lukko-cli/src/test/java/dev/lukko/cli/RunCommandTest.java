package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunCommandTest {

  private static RedisServers servers;

  @TempDir Path directory;
  private String resource;

  @BeforeAll
  static void startServers() {
    servers = RedisServers.start(3);
  }

  @AfterAll
  static void closeServers() {
    servers.close();
  }

  @BeforeEach
  void nameResource(TestInfo test) {
    resource = test.getTestMethod().orElseThrow().getName() + test.getDisplayName().hashCode();
  }

  @ParameterizedTest
  @CsvSource({"exit 0, 0", "exit 7, 7", "exit 255, 255", "kill -KILL $$, 137", "kill $$, 143"})
  void theExitCodeOfTheCommandIsOurs(String script, int exitCode) {
    Invocation run = run("--", "sh", "-c", script);

    assertThat(run.exitCode()).isEqualTo(exitCode);
    assertThat(run.err()).isEmpty();
    awaitReleased(servers);
  }

  @Test
  void theCommandSeesTheResourceAndATokenThatRises() throws IOException {
    Path seen = directory.resolve("seen");
    String script = "printf '%s %s\\n' \"$LUKKO_RESOURCE\" \"$LUKKO_FENCING_TOKEN\" >> " + seen;

    assertThat(run("--", "sh", "-c", script).exitCode()).isZero();
    assertThat(run("sh", "-c", script).exitCode()).isZero();

    List<String[]> lines = Files.readAllLines(seen).stream().map(line -> line.split(" ")).toList();
    assertThat(lines).hasSize(2).allSatisfy(line -> assertThat(line[0]).isEqualTo(resource));
    assertThat(Long.parseLong(lines.get(0)[1])).isPositive();
    assertThat(Long.parseLong(lines.get(1)[1])).isGreaterThan(Long.parseLong(lines.get(0)[1]));
  }

  @Test
  void aHeldLockIsRefusedAtOnceAndSaysWhoHoldsIt() {
    Gate gate = new Gate(directory, "holder");
    CompletableFuture<Invocation> holder =
        start("--ttl", "1m", resource, "--", "sh", "-c", gate.script());
    gate.awaitReached();
    Path ran = directory.resolve("ran");

    Invocation refused = run("--", "touch", ran.toString());

    assertThat(refused.exitCode()).isEqualTo(75);
    assertThat(refused.err())
        .startsWith("lukko: lock '" + resource + "' is held by ")
        .containsPattern("lukko run sh since 20\\S+Z, for another 5\\d\\.\\d s; did not wait")
        .contains(servers.all().stream().map(server -> "127.0.0.1:" + server.port()).toList())
        .containsOnlyOnce("\n");
    assertThat(ran).doesNotExist();
    gate.open();
    assertThat(join(holder).exitCode()).isZero();
    awaitReleased(servers);
  }

  @Test
  void aWaitThatIsTooShortIsRefusedAndSaysHowLongItWas() {
    Gate gate = new Gate(directory, "holder");
    CompletableFuture<Invocation> holder = start(resource, "--", "sh", "-c", gate.script());
    gate.awaitReached();

    Invocation refused = run("--wait", "150ms", "--", "true");

    assertThat(refused.exitCode()).isEqualTo(75);
    assertThat(refused.err()).containsPattern("; gave up after \\d+ ms; nodes: ");
    gate.open();
    assertThat(join(holder).exitCode()).isZero();
  }

  @Test
  void aWaiterGetsTheLockWhenTheHolderHasEnded() throws IOException {
    Gate gate = new Gate(directory, "holder");
    Path order = directory.resolve("order");
    CompletableFuture<Invocation> holder =
        start(resource, "--", "sh", "-c", gate.script() + "; echo holder >> " + order);
    gate.awaitReached();
    CompletableFuture<Invocation> waiter =
        start("--wait", "forever", resource, "--", "sh", "-c", "echo waiter >> " + order);

    gate.open();

    assertThat(join(holder).exitCode()).isZero();
    assertThat(join(waiter).exitCode()).isZero();
    assertThat(Files.readAllLines(order)).containsExactly("holder", "waiter");
  }

  @Test
  void aCommandThatOutlivesTheTtlKeepsItsLock() {
    Gate gate = new Gate(directory, "holder");
    CompletableFuture<Invocation> holder =
        start("--ttl", "3s", resource, "--", "sh", "-c", gate.script());
    gate.awaitReached();

    AtomicLong lowest = new AtomicLong(Long.MAX_VALUE);
    await()
        .atMost(60, TimeUnit.SECONDS)
        .until(
            () -> {
              long millis = remainingMillis(servers.get(0));
              return millis > lowest.getAndAccumulate(millis, Math::min);
            });

    gate.open();
    assertThat(join(holder).exitCode()).isZero();
  }

  @Test
  void aLockThatIsFreeInAPlainKeyIsTakenAndReleased() {
    Gate gate = new Gate(directory, "holder");
    CompletableFuture<Invocation> holder =
        start("--key-format", "plain", resource, "--", "sh", "-c", gate.script());
    gate.awaitReached();

    assertThat(servers.all())
        .allSatisfy(server -> assertThat(server.command("EXISTS", resource)).isEqualTo(1L));
    gate.open();
    assertThat(join(holder).exitCode()).isZero();
    assertThat(servers.all())
        .allSatisfy(server -> assertThat(server.command("EXISTS", resource)).isEqualTo(0L));
  }

  @Test
  void aPlainKeyOfAnotherLibraryIsAHolder() {
    servers.all().forEach(server -> server.command("SET", resource, "theirs", "PX", "60000"));

    Invocation refused = run("--key-format", "plain", "--", "true");

    assertThat(refused.exitCode()).isEqualTo(75);
    assertThat(refused.err()).contains("is held by a foreign owner 'theirs'");
  }

  @Test
  void theLockIsReleasedWhenTheCommandIsNotFound() {
    Invocation run = run("--", "no-such-command-anywhere", "x");

    assertThat(run.exitCode()).isEqualTo(127);
    assertThat(run.err())
        .isEqualTo(
            "lukko: cannot run 'no-such-command-anywhere' under lock '"
                + resource
                + "': not found\n");
    awaitReleased(servers);
  }

  @Test
  void theLockIsReleasedWhenTheCommandCannotBeRun() throws IOException {
    Path plainFile = Files.writeString(directory.resolve("plain"), "text");

    assertThat(run("--", plainFile.toString()).exitCode()).isEqualTo(126);
    assertThat(run("--", directory.toString()).exitCode()).isEqualTo(126);
    awaitReleased(servers);
  }

  @Test
  void withoutAQuorumTheCommandDoesNotRunAndEachNodeIsNamed() {
    try (RedisServers own = RedisServers.start(3)) {
      own.get(0).kill();
      own.get(2).kill();
      Path ran = directory.resolve("ran");

      Invocation refused = Invocation.with(nodes(own), "run", resource, "--", "touch", "" + ran);

      assertThat(refused.exitCode()).isEqualTo(69);
      assertThat(refused.err())
          .startsWith("lukko: no quorum for lock [" + resource + "]: ")
          .contains("connection refused", "without a record of the fleet")
          .contains("127.0.0.1:" + own.get(0).port() + ": ")
          .contains("127.0.0.1:" + own.get(1).port() + ": ")
          .contains("127.0.0.1:" + own.get(2).port() + ": ")
          .containsOnlyOnce("\n");
      assertThat(ran).doesNotExist();
      await().until(() -> entryKeys(own.get(1)).isEmpty());
    }
  }

  @Test
  void aMinorityThatIsDownOrHangsChangesNothing() {
    try (RedisServers own = RedisServers.start(5)) {
      own.get(0).kill();
      own.get(4).pause();

      Invocation run = Invocation.with(nodes(own), "run", resource, "--", "sh", "-c", "exit 5");

      assertThat(run.exitCode()).isEqualTo(5);
    }
  }

  @Test
  void nodesGivenAsOptionsReplaceThoseOfTheEnvironment() {
    Invocation run =
        Invocation.with(
            Map.of("LUKKO_NODES", "redis://127.0.0.1:1"),
            "run",
            resource,
            "--node",
            servers.get(0).url(),
            "--",
            "true");

    assertThat(run.exitCode()).isZero();
  }

  @Test
  void aStolenLockEndsTheCommandAndItsDescendants() {
    Gate gate = new Gate(directory, "holder");
    Path descendant = directory.resolve("descendant");
    Gate below = new Gate(directory, "below");
    String script = "(" + below.script() + ") & echo $! > " + descendant + "; " + gate.script();
    CompletableFuture<Invocation> holder =
        start("--ttl", "1s", "--kill-after", "1m", resource, "--", "sh", "-c", script);
    ProcessHandle child = gate.awaitReached();
    ProcessHandle grandchild = Gate.process(descendant);

    steal();
    Invocation lost = join(holder);

    assertThat(lost.exitCode()).isEqualTo(79);
    assertThat(lost.err())
        .startsWith("lukko: lost lock '" + resource + "': ")
        .contains("ending the command: TERM now, KILL after 1 min 0 s")
        .contains("; now held by a foreign owner 'thief'")
        .containsOnlyOnce("\n");
    assertThat(child.isAlive()).isFalse();
    // Its parent has ended before it; who sees it off now is not ours.
    await().until(() -> !grandchild.isAlive());
  }

  @Test
  void aBusyLockIsSkippedInSilenceIfThatWasAskedFor() {
    Gate gate = new Gate(directory, "holder");
    CompletableFuture<Invocation> holder = start(resource, "--", "sh", "-c", gate.script());
    gate.awaitReached();
    Path ran = directory.resolve("ran");

    Invocation skipped =
        Invocation.with(nodes(servers), "run", "--skip-if-busy", resource, "--", "touch", "" + ran);

    assertThat(skipped).isEqualTo(new Invocation(0, "", ""));
    assertThat(ran).doesNotExist();
    gate.open();
    assertThat(join(holder).exitCode()).isZero();
  }

  @Test
  void aLostLockIsSaidAndTheCommandGoesOnIfThatWasAskedFor() {
    Gate gate = new Gate(directory, "holder");
    Gate after = new Gate(directory, "after");
    CompletableFuture<Invocation> holder =
        start(
            "--ttl",
            "1s",
            "--on-lost",
            "warn",
            resource,
            "--",
            "sh",
            "-c",
            gate.script() + "; " + after.script());
    ProcessHandle child = gate.awaitReached();

    steal();
    gate.open();
    after.awaitReached();
    assertThat(child.isAlive()).isTrue();
    after.open();

    Invocation lost = join(holder);
    assertThat(lost.exitCode()).isEqualTo(79);
    assertThat(lost.err()).containsOnlyOnce("\n").doesNotContain("TERM");
  }

  @Test
  void aCommandThatHoldsTheLockTooLongIsEndedAndTheLockReleased() {
    Gate gate = new Gate(directory, "holder");

    Invocation ended = run("--max-hold", "1ms", "--", "sh", "-c", gate.script());

    assertThat(ended.exitCode()).isEqualTo(124);
    assertThat(ended.err())
        .startsWith("lukko: the command has held lock '" + resource + "' for --max-hold; ending")
        .containsOnlyOnce("\n");
    awaitReleased(servers);
  }

  @Test
  void aCommandThatIgnoresTermIsKilledWhenItsLockIsLost() {
    Gate gate = new Gate(directory, "holder");
    String script = "trap '' TERM; " + gate.script();
    CompletableFuture<Invocation> holder =
        start("--ttl", "1s", "--kill-after", "100ms", resource, "--", "sh", "-c", script);
    ProcessHandle child = gate.awaitReached();

    steal();
    Invocation lost = join(holder);

    assertThat(lost.exitCode()).isEqualTo(79);
    assertThat(lost.err()).contains("had not ended 100 ms after TERM");
    assertThat(child.isAlive()).isFalse();
  }

  @Test
  void aCommandIsEndedWhenTheMajorityIsGone() {
    try (RedisServers own = RedisServers.start(3)) {
      Gate gate = new Gate(directory, "holder");
      CompletableFuture<Invocation> holder =
          startWith(nodes(own), "--ttl", "1s", resource, "--", "sh", "-c", gate.script());
      ProcessHandle child = gate.awaitReached();

      own.get(0).kill();
      own.get(1).pause();
      Invocation lost = join(holder);

      assertThat(lost.exitCode()).isEqualTo(79);
      assertThat(lost.err()).contains("now unknown (1 of 3 nodes answered, 2 needed)");
      assertThat(child.isAlive()).isFalse();
    }
  }

  @Test
  void aLockThatWasTakenAwayUnnoticedIsReportedAtTheEnd() {
    Gate gate = new Gate(directory, "holder");
    CompletableFuture<Invocation> holder =
        start("--ttl", "5m", resource, "--", "sh", "-c", gate.script() + "; exit 3");
    gate.awaitReached();

    steal();
    gate.open();
    Invocation lost = join(holder);

    assertThat(lost.exitCode()).isEqualTo(79);
    assertThat(lost.err()).contains("the command had ended meanwhile with exit code 3");
  }

  /** Puts another owner's entry into every node. */
  private void steal() {
    for (RedisServer server : servers.all()) {
      for (String key : entryKeys(server)) {
        server.command("DEL", key);
        server.command("SET", key, "thief", "PX", "60000");
      }
    }
  }

  private Invocation run(String... rest) {
    List<String> args = new ArrayList<>(List.of("run"));
    int start = 0;
    while (start < rest.length && rest[start].startsWith("--") && !rest[start].equals("--")) {
      args.addAll(List.of(rest[start], rest[start + 1]));
      start += 2;
    }
    args.add(resource);
    args.addAll(List.of(rest).subList(start, rest.length));
    return Invocation.with(nodes(servers), args.toArray(String[]::new));
  }

  private CompletableFuture<Invocation> start(String... args) {
    return startWith(nodes(servers), args);
  }

  private static CompletableFuture<Invocation> startWith(
      Map<String, String> environment, String... args) {
    List<String> all = new ArrayList<>(List.of("run"));
    all.addAll(List.of(args));
    return CompletableFuture.supplyAsync(
        () -> Invocation.with(environment, all.toArray(String[]::new)),
        command -> {
          Thread thread = new Thread(command, "lukko-test-run");
          thread.setDaemon(true);
          thread.start();
        });
  }

  private static Invocation join(CompletableFuture<Invocation> invocation) {
    return invocation.orTimeout(60, TimeUnit.SECONDS).join();
  }

  private static Map<String, String> nodes(RedisServers servers) {
    return Map.of("LUKKO_NODES", String.join(" ", servers.urls()));
  }

  /** The command returns when a quorum has released; the others have the request already. */
  private void awaitReleased(RedisServers all) {
    await().until(() -> all.all().stream().allMatch(server -> entryKeys(server).isEmpty()));
  }

  private long remainingMillis(RedisServer server) {
    return server.command("PTTL", "lukko:{" + resource + "}") instanceof Long millis ? millis : -1;
  }

  private List<String> entryKeys(RedisServer server) {
    String key = "lukko:{" + resource + "}";
    return Long.valueOf(1).equals(server.command("EXISTS", key)) ? List.of(key) : List.of();
  }
}
