package dev.lukko.cli.wrapper;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A shell script that calls the real command, in a process group of its own. It finds the script of
 * the installation in {@code LUKKO}, and a folder for its files in {@code DIR}.
 */
final class Script implements AutoCloseable {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /**
   * Java starts its children with QUIT blocked, and whoever started the tests may ignore signals,
   * as shells do in the background. Perl is told not to complain of a locale that is missing.
   */
  private static final List<String> UNBLOCKED =
      List.of(
          "perl",
          "-MPOSIX",
          "-e",
          "delete $ENV{PERL_BADLANG};"
              + " $SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT TERM USR1 USR2 ALRM PIPE);"
              + " sigprocmask(SIG_SETMASK, POSIX::SigSet->new); exec @ARGV");

  private final Path directory;
  private final Process process;
  private final Path out;
  private final Path err;

  private Script(Path directory, Process process, Path out, Path err) {
    this.directory = directory;
    this.process = process;
    this.out = out;
    this.err = err;
  }

  static Script start(Path directory, String text) {
    return start(directory, Map.of(), text);
  }

  /** Starts it, by sh. */
  static Script start(Path directory, Map<String, String> environment, String text) {
    try {
      Path out = Files.createTempFile(directory, "out", null);
      Path err = Files.createTempFile(directory, "err", null);
      List<String> command = new ArrayList<>(UNBLOCKED);
      command.addAll(List.of("setsid", "sh", "-c", text));
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectInput(Path.of("/dev/null").toFile())
              .redirectOutput(out.toFile())
              .redirectError(err.toFile());
      builder.environment().remove("LUKKO_NODES");
      builder.environment().put("PERL_BADLANG", "0");
      builder.environment().put("LUKKO", Installation.script().toString());
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      builder.environment().put("DIR", directory.toString());
      builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
      builder
          .environment()
          .put("TMPDIR", Files.createDirectories(directory.resolve("tmp")).toString());
      builder.environment().putAll(environment);
      return new Script(directory, builder.start(), out, err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * A script that tells of each signal it gets by a line in the file {@code signals}, and exits
   * with 5 on HUP.
   */
  static String noting(String... signals) {
    StringBuilder script = new StringBuilder("exec 2>/dev/null; "); // sh tells what a sleep died of
    for (String signal : signals) {
      script
          .append("trap \"echo ")
          .append(signal)
          .append(" >>$DIR/signals\" ")
          .append(signal)
          .append("; ");
    }
    return script
        + "echo $$ >$DIR/command.new; mv $DIR/command.new $DIR/command;"
        + " while [ -e $DIR/command ]; do sleep 0.05; done; exit 5";
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  /** Waits until COMMAND runs; see {@link #noting}. */
  ProcessHandle awaitCommand() {
    Path file = directory.resolve("command");
    await().atMost(TIMEOUT).until(() -> Files.exists(file) || !process.isAlive());
    if (!Files.exists(file)) {
      throw new AssertionError(
          "has ended with " + process.exitValue() + ": " + read(out) + read(err));
    }
    return ProcessHandle.of(Long.parseLong(read(file).strip())).orElseThrow();
  }

  /** Lets a COMMAND by {@link #noting} end. */
  void endCommand() {
    try {
      Files.delete(directory.resolve("command"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until COMMAND has noted a signal. */
  void awaitNoted(String signal) {
    await().atMost(TIMEOUT).until(() -> noted().contains(signal));
  }

  List<String> noted() {
    Path file = directory.resolve("signals");
    return Files.exists(file) ? read(file).lines().toList() : List.of();
  }

  /** Sends a signal to this process, or with {@code "-"} before its id to its group. */
  void send(String signal, String whom) {
    run("kill -s " + signal + " -- " + whom + process.pid());
  }

  /** Runs a line by a shell. */
  static void run(String line) {
    try {
      Process shell = new ProcessBuilder("sh", "-c", line).inheritIO().start();
      if (shell.waitFor() != 0) {
        throw new AssertionError(line + " ended with " + shell.exitValue());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Waits until it has ended. */
  int exitCode() throws InterruptedException {
    if (!process.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new AssertionError("did not end; it said: " + read(out) + read(err));
    }
    return process.exitValue();
  }

  String out() {
    return read(out);
  }

  String err() {
    return read(err);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills it and all that it has started, if a failed test has left it. */
  @Override
  public void close() {
    List<ProcessHandle> descendants = process.descendants().toList();
    process.destroyForcibly();
    descendants.forEach(ProcessHandle::destroyForcibly);
  }
}
