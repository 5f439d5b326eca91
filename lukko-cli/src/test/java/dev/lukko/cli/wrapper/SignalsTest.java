package dev.lukko.cli.wrapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.cli.process.Stopped;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Signals, the death of what holds together, and being process 1. */
@EnabledOnOs(OS.LINUX)
class SignalsTest {

  private static final String[] SIGNALS = {
    "HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "IO", "WINCH", "40"
  };

  @TempDir Path directory;

  @ParameterizedTest
  @MethodSource("dev.lukko.cli.wrapper.Wrapper#lukko")
  void everySignalIsPassedOnOnce(Wrapper wrapper) throws Exception {
    try (Script script = start(wrapper, SIGNALS)) {
      script.awaitCommand();

      for (String signal : SIGNALS) {
        script.send(signal, "");
        script.awaitNoted(signal);
      }

      script.endCommand();
      assertThat(script.exitCode()).isEqualTo(5);
      assertThat(script.noted()).containsExactly(SIGNALS);
      assertThat(script.out()).isEmpty();
      assertThat(script.err()).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("dev.lukko.cli.wrapper.Wrapper#lukko")
  void aSignalToTheGroupReachesTheCommandOnce(Wrapper wrapper) throws Exception {
    try (Script script = start(wrapper, "INT", "TERM", "USR1", "USR2")) {
      script.awaitCommand();

      for (String signal : List.of("TERM", "INT", "USR1")) {
        script.send(signal, "-");
        script.awaitNoted(signal);
      }
      // Passed on after those were dealt with.
      script.send("USR2", "");
      script.awaitNoted("USR2");

      script.endCommand();
      assertThat(script.exitCode()).isEqualTo(5);
      assertThat(script.noted()).containsExactly("TERM", "INT", "USR1", "USR2");
      assertThat(script.err()).isEmpty();
    }
  }

  @Test
  void theSameSignalIsPassedOnAgainAfterTheGroupHadIt() throws Exception {
    try (Script script = start(Wrapper.LUKKO_SH, "TERM")) {
      script.awaitCommand();
      script.send("TERM", "-");
      script.awaitNoted("TERM");

      script.send("TERM", "");

      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> Collections.frequency(script.noted(), "TERM") == 2);
      script.endCommand();
      assertThat(script.exitCode()).isEqualTo(5);
    }
  }

  @Test
  void aSignalEndsTheWaitForTheLock() throws Exception {
    String noting = Script.noting("TERM");
    String text =
        "\"$LUKKO\" run nightly -- sh -c \"$COMMAND\" & holder=$!; while [ ! -e $DIR/command ]; do sleep 0.05; done;"
            + " \"$LUKKO\" run --wait forever nightly -- touch $DIR/ran & waiter=$!;"
            + " for s in USR1 TERM; do sleep 1; kill -s $s $waiter && break; done; wait $waiter; echo $?;"
            + " rm $DIR/command; wait $holder; echo $?";
    try (Script script = Script.start(directory, Map.of("COMMAND", noting), text)) {
      assertThat(script.exitCode()).isZero();
      assertThat(script.out()).isEqualTo("138\n5\n");
      assertThat(directory.resolve("ran")).doesNotExist();
      assertThat(script.err()).isEmpty();
    }
  }

  @Test
  void aLukkoThatIsKilledEndsTheCommandAndGivesTheLockBack() throws Exception {
    try (Script script = start(Wrapper.LUKKO_SH, "TERM")) {
      ProcessHandle command = script.awaitCommand();

      script.send("KILL", "");

      script.awaitNoted("TERM");
      script.endCommand();
      await().atMost(Duration.ofSeconds(60)).until(() -> !command.isAlive());
      try (Script next =
          Script.start(directory, "\"$LUKKO\" run --wait 25s nightly -- ls -A $DIR/tmp")) {
        assertThat(next.exitCode()).isZero();
        assertThat(next.out()).as("what is left in the temporary folder").isEmpty();
      }
    }
  }

  @Test
  void aJavaThatIsKilledEndsTheCommand() throws Exception {
    try (Script script = start(Wrapper.LUKKO_SH, "TERM")) {
      script.awaitCommand();

      java(script).orElseThrow().destroyForcibly();

      script.awaitNoted("TERM");
      script.endCommand();
      assertThat(script.exitCode()).isEqualTo(79);
      assertThat(script.err())
          .startsWith("lukko: its Java process died (exit code 137)")
          .containsOnlyOnce("\n");
    }
  }

  @Test
  void aCommandThatIgnoresTermIsKilledAfterJavaHasDied() throws Exception {
    try (Script script = start(Wrapper.LUKKO_SH, "TERM")) {
      script.awaitCommand();

      java(script).orElseThrow().destroyForcibly();

      assertThat(script.exitCode()).isEqualTo(79);
    }
  }

  @Test
  void whoMayNotSignalTheCommandSaysSo() throws Exception {
    Path setuid = setuidProgram();
    String text =
        "exec setpriv --reuid 65534 --clear-groups sh \"$LUKKO\" run --ttl 2s nightly -- "
            + setuid
            + " --reuid 0 --clear-groups sh -c \"$COMMAND\"";
    Script.run("chmod 777 " + directory + " && mkdir -m 777 -p " + directory + "/tmp");
    try (Script script = Script.start(directory, Map.of("COMMAND", Script.noting("TERM")), text)) {
      ProcessHandle command = script.awaitCommand();

      script.send("TERM", "");

      await().atMost(Duration.ofSeconds(60)).until(() -> !script.err().isEmpty());
      assertThat(script.err())
          .isEqualTo(
              "lukko: could not pass TERM on: this user may not signal process "
                  + command.pid()
                  + "\n");
      script.endCommand();
      assertThat(script.exitCode()).isEqualTo(80);
      assertThat(script.noted()).isEmpty();
    }
  }

  @Test
  void aCommandOfAnotherUserThatCannotBeEndedIsNamed() throws Exception {
    Path setuid = setuidProgram();
    String nobody = "exec setpriv --reuid 65534 --clear-groups sh \"$LUKKO\" run ";
    String text =
        nobody
            + "--ttl 1s --kill-after 1ms nightly -- "
            + setuid
            + " --reuid 0 --clear-groups sh -c \"$COMMAND\"";
    Script.run("chmod 777 " + directory + " && mkdir -m 777 -p " + directory + "/tmp");
    try (Script script = Script.start(directory, Map.of("COMMAND", Script.noting("TERM")), text)) {
      ProcessHandle command = script.awaitCommand();

      Stopped stopped = Stopped.stop(java(script).orElseThrow());
      try (Script other = Script.start(directory, nobody + "--wait 50s nightly -- true")) {
        assertThat(other.exitCode()).as(other.err()).isZero();
      }
      stopped.resume();

      await().atMost(Duration.ofSeconds(60)).until(() -> script.err().contains("could not end"));
      assertThat(script.err())
          .contains(
              "could not end 1 process of the command under lock 'nightly', and without the lock"
                  + " it goes on: "
                  + command.pid())
          .doesNotContain("killed");
      script.endCommand();
      assertThat(script.exitCode()).isEqualTo(80);
    }
  }

  @Test
  void asProcess1ItSeesOrphansOff() throws Exception {
    assumeTrue(can("unshare --pid --fork --mount-proc true"), "no process namespaces here");
    String command =
        "echo pid $PPID; (sleep 0.01 & echo $! >$DIR/orphan); read orphan <$DIR/orphan;"
            + " while [ -e /proc/$orphan ]; do sleep 0.05; done; echo seen off";
    try (Script script =
        Script.start(
            directory,
            Map.of("COMMAND", command),
            "unshare --pid --fork --mount-proc "
                + Wrapper.LUKKO_SH.words()
                + " sh -c \"$COMMAND\"")) {
      assertThat(script.exitCode()).as(script.err()).isZero();
      assertThat(script.out()).isEqualTo("pid 1\nseen off\n");
    }
  }

  /** A program that root owns and that runs as root, whoever calls it. */
  private Path setuidProgram() throws Exception {
    assumeTrue(can("[ \"$(id -u)\" = 0 ] && command -v setpriv"), "needs root, to make one");
    Path program = directory.resolve("setuid");
    Script.run("cp \"$(command -v setpriv)\" " + program + " && chmod 4755 " + program);
    assumeTrue(
        can("setpriv --reuid 65534 --clear-groups " + program + " --reuid 0 true"),
        "a temporary folder without setuid");
    return program;
  }

  private static boolean can(String line) throws Exception {
    return new ProcessBuilder("sh", "-c", line).start().waitFor() == 0;
  }

  private static Optional<ProcessHandle> java(Script script) {
    return script
        .handle()
        .descendants()
        .filter(process -> process.info().command().orElse("").endsWith("/java"))
        .findFirst();
  }

  private Script start(Wrapper wrapper, String... signals) {
    return Script.start(
        directory,
        Map.of("COMMAND", Script.noting(signals)),
        "exec " + wrapper.words() + " sh -c \"$COMMAND\"");
  }
}
