package dev.lukko.scorecard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.redis.RedisNode;
import dev.lukko.redis.RedisNodeBuilder;
import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServers;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Lukko with plain keys beside the real node-redlock, on the same five servers: they exclude each
 * other, and neither touches what the other holds. Skipped where there is no Node.js, or npm cannot
 * reach its registry.
 */
class BesideNodeRedlockTest {
  private static final Duration TTL = Duration.ofSeconds(20);
  private static final int EACH = 500;

  @TempDir private static Path directory;
  private static RedisServers servers;

  private final List<Process> processes = new ArrayList<>();
  private LockClient locks;

  @BeforeAll
  static void start() throws Exception {
    Optional<NodeModules> packages = NodeModules.prepare(directory);
    assumeTrue(packages.isPresent(), "Node.js, npm or its registry are not there");
    try (InputStream program =
        BesideNodeRedlockTest.class.getResourceAsStream("beside-counter.mjs")) {
      Files.copy(Objects.requireNonNull(program), directory.resolve("beside-counter.mjs"));
    }
    servers = RedisServers.start(5);
  }

  @AfterAll
  static void stop() {
    if (servers != null) {
      servers.close();
    }
  }

  private static List<String> urls() {
    List<String> urls = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      urls.add(servers.get(i).url());
    }
    return urls;
  }

  @BeforeEach
  void open() {
    RedisNodeBuilder plain = RedisNode.builder().keyFormat(RedisKeyFormat.PLAIN);
    locks =
        Redlock.builder()
            .nodes(plain.connectAll(urls()))
            .nodeTimeout(Duration.ofSeconds(5))
            .build();
  }

  @AfterEach
  void close() {
    processes.forEach(Process::destroyForcibly);
    locks.close();
  }

  /** The program of the other side, which has said that it is ready. */
  private final class OtherSide {
    private final BufferedReader says;
    private final BufferedWriter hears;

    OtherSide(String program, String... arguments) throws IOException {
      List<String> command = new ArrayList<>(List.of("node", program));
      command.addAll(List.of(arguments));
      command.addAll(urls());
      Process process =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      processes.add(process);
      says = process.inputReader();
      hears = process.outputWriter();
      assertThat(says.readLine()).isEqualTo("ready");
    }

    String ask(String line) throws IOException {
      hears.write(line + "\n");
      hears.flush();
      return says.readLine();
    }
  }

  private static List<Object> onAll(String... command) {
    List<Object> replies = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      replies.add(servers.get(i).command(command));
    }
    return replies;
  }

  /** Asks again in short; a release of the other side wakes nobody here. */
  private Lease acquire(String name) {
    while (true) {
      Optional<Lease> lease = locks.tryAcquire(name, TTL);
      if (lease.isPresent()) {
        return lease.get();
      }
      LockSupport.parkNanos(
          TimeUnit.MICROSECONDS.toNanos(ThreadLocalRandom.current().nextLong(500, 5_000)));
    }
  }

  @Test
  @Timeout(value = 200, unit = TimeUnit.SECONDS)
  void thousandCriticalSectionsOfBothLoseNoAddition() throws Exception {
    Path counter = directory.resolve("counter");
    Path log = directory.resolve("log");
    Files.writeString(counter, "0");
    Files.writeString(log, "");
    OtherSide node =
        new OtherSide(
            "beside-counter.mjs",
            "counter",
            counter.toString(),
            log.toString(),
            Integer.toString(EACH));
    node.hears.write("go\n");
    node.hears.flush();
    for (int i = 0; i < EACH; i++) {
      Lease lease = acquire("counter");
      int before = Integer.parseInt(Files.readString(counter));
      Thread.yield();
      Files.writeString(counter, Integer.toString(before + 1));
      Files.writeString(log, "j", StandardOpenOption.APPEND);
      lease.release();
    }
    assertThat(node.says.readLine()).isEqualTo("done");
    assertThat(Files.readString(counter)).isEqualTo(Integer.toString(2 * EACH));
    String order = Files.readString(log);
    assertThat(order).hasSize(2 * EACH);
    assertThat(order.split("jn|nj", -1).length)
        .as("times at which one has followed the other, or nothing was shown")
        .isGreaterThan(20);
    assertThat(onAll("EXISTS", "counter")).containsOnly(0L);
  }

  @Test
  @Timeout(value = 100, unit = TimeUnit.SECONDS)
  void whatTheOtherSideHoldsIsRefused_andIsItsOwnToExtendAndToRelease() throws Exception {
    OtherSide node = new OtherSide("node-redlock.mjs", "2000");
    assertThat(node.ask("lock theirs")).startsWith("held");
    List<Object> owners = onAll("GET", "theirs");
    for (int i = 0; i < 20; i++) {
      assertThat(locks.tryAcquire("theirs", TTL)).isEmpty();
    }
    assertThat(onAll("GET", "theirs")).as("untouched by refused rounds").isEqualTo(owners);
    assertThat(node.ask("held theirs")).isEqualTo("yes");
    assertThat(node.ask("unlock theirs")).isEqualTo("done");
    assertThat(onAll("EXISTS", "theirs")).containsOnly(0L);
    assertThat(locks.tryAcquire("theirs", TTL)).isPresent();
  }

  @Test
  @Timeout(value = 100, unit = TimeUnit.SECONDS)
  void whatLukkoHoldsIsBusyForTheOtherSide_andItsOwnToExtendAndToRelease() throws Exception {
    OtherSide node = new OtherSide("node-redlock.mjs", "2000");
    Lease lease = locks.tryAcquire("ours", TTL).orElseThrow();
    List<Object> owners = onAll("GET", "ours");
    for (int i = 0; i < 20; i++) {
      assertThat(node.ask("other ours")).isEqualTo("busy");
    }
    assertThat(onAll("GET", "ours")).as("untouched by refused rounds").isEqualTo(owners);
    assertThat(lease.extend(TTL)).isTrue();
    lease.release();
    assertThat(onAll("EXISTS", "ours")).containsOnly(0L);
    assertThat(node.ask("lock ours")).startsWith("held");
    assertThat(node.ask("unlock ours")).isEqualTo("done");
  }
}
