package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lukko.cli.process.Signal;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo as it is run by people: a process of its own. */
class DemoCommandTest {

  private static final int SERVERS_AND_WORKERS = 8;

  @TempDir Path directory;

  @Test
  void theThreeActsComeOutAsPromisedAndLeaveNothingBehind() throws Exception {
    Set<ProcessHandle> started = ConcurrentHashMap.newKeySet();
    try (ChildJvm demo = ChildJvm.start(directory, Map.of(), "", "demo", "--json")) {
      await()
          .atMost(Duration.ofSeconds(90))
          .until(
              () -> {
                demo.handle().descendants().forEach(started::add);
                return !demo.handle().isAlive();
              });

      assertThat(demo.exitCode()).as(demo.err()).isZero();
      JsonNode json = new ObjectMapper().readTree(demo.out());
      assertThat(demo.out()).containsOnlyOnce("\n").endsWith("}\n");
      assertThat(json.fieldNames())
          .toIterable()
          .containsExactly("unlocked", "redlock", "pausedHolder");
      JsonNode unlocked = json.path("unlocked");
      assertThat(unlocked.path("invoices").asInt()).isEqualTo(200);
      assertThat(unlocked.path("posted").asInt()).isEqualTo(200);
      assertThat(unlocked.path("doubleCharges").asInt()).isPositive();
      JsonNode redlock = json.path("redlock");
      assertThat(redlock.path("invoices").asInt()).isEqualTo(200);
      assertThat(redlock.path("posted").asInt()).isEqualTo(200);
      assertThat(redlock.path("doubleCharges").asInt(-1)).isZero();
      assertThat(redlock.path("nodesKilled").asInt()).isEqualTo(1);
      assertThat(redlock.path("nodesHung").asInt()).isEqualTo(1);
      JsonNode paused = json.path("pausedHolder");
      assertThat(paused.path("staleWritesWithoutFence").asInt()).isPositive();
      assertThat(paused.path("staleWritesWithFence").asInt(-1)).isZero();
      assertThat(demo.err()).doesNotContain("\u001B").doesNotContain("\r");
      assertThat(demo.err().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(81));
    }
    assertThat(started).hasSizeGreaterThanOrEqualTo(SERVERS_AND_WORKERS);
    assertNothingIsLeft(started);
  }

  @Test
  void aSignalEndsTheDemoAndLeavesNothingBehind() throws Exception {
    Set<ProcessHandle> started = ConcurrentHashMap.newKeySet();
    try (ChildJvm demo = ChildJvm.start(directory, Map.of(), "", "demo")) {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                demo.handle().descendants().forEach(started::add);
                return demo.out().contains("Act 2");
              });

      Signal.TERM.sendTo(demo.handle());

      assertThat(demo.exitCode()).isEqualTo(143);
    }
    assertThat(started).hasSizeGreaterThanOrEqualTo(SERVERS_AND_WORKERS);
    assertNothingIsLeft(started);
  }

  private void assertNothingIsLeft(Set<ProcessHandle> started) throws IOException {
    assertThat(started).noneMatch(ProcessHandle::isAlive);
    assertThat(directory.resolve("tmp")).isEmptyDirectory();
  }
}
