package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.lukko.cli.process.Signal;
import dev.lukko.cli.process.Stopped;
import dev.lukko.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The real command in its own process: streams and signals. */
class RunSignalsTest {

  private static final String KEY = "lukko:{nightly}";
  private static RedisServer server;

  @TempDir Path directory;

  @BeforeAll
  static void startServer() {
    server = RedisServer.start();
  }

  @AfterAll
  static void closeServer() {
    server.close();
  }

  @Test
  void theStandardStreamsAreThoseOfTheCommand() throws InterruptedException {
    try (ChildJvm lukko = start("to be read\n", "sh", "-c", "cat; echo to say >&2")) {
      assertThat(lukko.exitCode()).isZero();
      assertThat(lukko.out()).isEqualTo("to be read\n");
      assertThat(lukko.err()).isEqualTo("to say\n");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"HUP", "INT", "TERM"})
  void aSignalIsPassedOnAndTheLockReleasedAfterTheCommandEnded(Signal signal)
      throws InterruptedException {
    assumeFalse(isIgnored(signal), "this JVM was started to ignore " + signal);
    Gate working = new Gate(directory, "working");
    Gate ending = new Gate(directory, "ending");
    String script =
        "end() { " + ending.script() + "; exit 5; }; trap end " + signal + "; " + working.script();
    try (ChildJvm lukko = start("", "sh", "-c", script)) {
      working.awaitReached();

      assertThat(signal.sendTo(lukko.handle())).isTrue();

      ending.awaitReached();
      assertThat(server.command("EXISTS", KEY)).isEqualTo(1L);
      ending.open();
      assertThat(lukko.exitCode()).isEqualTo(5);
      assertThat(server.command("EXISTS", KEY)).isEqualTo(0L);
      assertThat(lukko.err()).isEmpty();
    }
  }

  @Test
  void aCommandThatTermEndsIsReportedAsShellsDo() throws InterruptedException {
    try (ChildJvm lukko = start("", "sleep", "600")) {
      await().atMost(Duration.ofSeconds(60)).until(() -> lukko.handle().children().count() == 1);

      Signal.TERM.sendTo(lukko.handle());

      assertThat(lukko.exitCode()).isEqualTo(143);
      assertThat(server.command("EXISTS", KEY)).isEqualTo(0L);
    }
  }

  @Test
  void aCommandThatIgnoresTermKeepsItsLockUntilItEnds() throws InterruptedException {
    Gate working = new Gate(directory, "working");
    Gate deaf = new Gate(directory, "deaf");
    String script = "heard() { " + deaf.script() + "; }; trap heard TERM; " + working.script();
    try (ChildJvm lukko = start("", "sh", "-c", script + "; exit 6")) {
      working.awaitReached();
      Signal.TERM.sendTo(lukko.handle());
      deaf.awaitReached();

      Signal.TERM.sendTo(lukko.handle());

      assertThat(lukko.handle().isAlive()).isTrue();
      assertThat(server.command("EXISTS", KEY)).isEqualTo(1L);
      deaf.open();
      working.open();
      assertThat(lukko.exitCode()).isEqualTo(6);
      assertThat(server.command("EXISTS", KEY)).isEqualTo(0L);
    }
  }

  @Test
  void aSignalEndsTheWaitForTheLockAndTheCommandDoesNotRun() throws InterruptedException {
    server.command("SET", KEY, "another", "PX", "600000");
    Path ran = directory.resolve("ran");
    try (ChildJvm lukko = start("", "--wait", "forever", "touch", ran.toString())) {
      await().atMost(Duration.ofSeconds(60)).until(() -> clientsOfLukko() > 0);

      Signal.TERM.sendTo(lukko.handle());

      assertThat(lukko.exitCode()).isEqualTo(143);
      assertThat(lukko.err()).isEmpty();
      assertThat(ran).doesNotExist();
      assertThat(server.command("GET", KEY)).isEqualTo("another");
    } finally {
      server.command("DEL", KEY);
    }
  }

  @Test
  void aLukkoThatWasStoppedPastItsTtlEndsTheCommand() throws InterruptedException {
    Gate working = new Gate(directory, "working");
    try (ChildJvm lukko = start("", "--ttl", "1s", "sh", "-c", working.script())) {
      ProcessHandle child = working.awaitReached();

      Stopped stopped = Stopped.stop(lukko.handle());
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> Long.valueOf(0).equals(server.command("EXISTS", KEY)));
      stopped.resume();

      assertThat(lukko.exitCode()).isEqualTo(79);
      assertThat(lukko.err()).startsWith("lukko: lost lock 'nightly': ");
      assertThat(child.isAlive()).isFalse();
    }
  }

  /**
   * Starts {@code lukko run}; words up to the first that is no option stand before the resource.
   */
  private ChildJvm start(String input, String... args) {
    int options = args[0].startsWith("--") ? 2 : 0;
    String[] all = new String[args.length + 2];
    all[0] = "run";
    System.arraycopy(args, 0, all, 1, options);
    all[options + 1] = "nightly";
    System.arraycopy(args, options, all, options + 2, args.length - options);
    return ChildJvm.start(directory, Map.of("LUKKO_NODES", server.url()), input, all);
  }

  private static long clientsOfLukko() {
    return String.valueOf(server.command("CLIENT", "LIST"))
        .lines()
        .filter(line -> line.contains(" name=lukko "))
        .count();
  }

  /**
   * A process that was started in the background of a script ignores INT, and so do its children.
   */
  private static boolean isIgnored(Signal signal) {
    try {
      String mask =
          Files.readAllLines(Path.of("/proc/self/status")).stream()
              .filter(line -> line.startsWith("SigIgn:"))
              .map(line -> line.substring("SigIgn:".length()).strip())
              .findFirst()
              .orElse("0");
      return (Long.parseUnsignedLong(mask, 16) >> (signal.exitCode() - 129) & 1) == 1;
    } catch (IOException notLinux) {
      return false;
    }
  }
}
