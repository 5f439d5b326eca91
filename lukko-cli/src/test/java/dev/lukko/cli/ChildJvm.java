package dev.lukko.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The real command in a JVM of its own, with its streams in files. */
final class ChildJvm implements AutoCloseable {

  private static final Duration END_TIMEOUT = Duration.ofSeconds(90);

  private final Process process;
  private final Path out;
  private final Path err;

  private ChildJvm(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  /**
   * Starts the command.
   *
   * @param directory for the files, and for what the command keeps in files itself
   * @param environment added to that of this JVM
   * @param input what it reads from standard input
   */
  static ChildJvm start(
      Path directory, Map<String, String> environment, String input, String... args) {
    return start(directory, environment, List.of(), input, args);
  }

  /** The same with options for its JVM, and without input. */
  static ChildJvm startJava(
      Path directory, Map<String, String> environment, List<String> options, String... args) {
    return start(directory, environment, options, "", args);
  }

  private static ChildJvm start(
      Path directory,
      Map<String, String> environment,
      List<String> options,
      String input,
      String... args) {
    try {
      Path in = Files.writeString(Files.createTempFile(directory, "in", null), input);
      Path out = Files.createTempFile(directory, "out", null);
      Path err = Files.createTempFile(directory, "err", null);
      Path temporary = Files.createDirectories(directory.resolve("tmp"));
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(
          List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xlog:disable"));
      if (Runtime.version().feature() >= 24) {
        command.add("--sun-misc-unsafe-memory-access=allow"); // Netty's, which would be warned of
      }
      command.addAll(options);
      command.add("-Djava.io.tmpdir=" + temporary);
      command.addAll(List.of("-cp", System.getProperty("java.class.path")));
      command.add(Lukko.class.getName());
      command.addAll(List.of(args));
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectInput(in.toFile())
              .redirectOutput(out.toFile())
              .redirectError(err.toFile());
      builder.environment().remove("LUKKO_NODES");
      builder.environment().putAll(environment);
      return new ChildJvm(builder.start(), out, err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  String out() {
    return read(out);
  }

  String err() {
    return read(err);
  }

  /** Waits until it has ended. */
  int exitCode() throws InterruptedException {
    if (!process.waitFor(END_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new AssertionError("did not end; it said: " + out() + err());
    }
    return process.exitValue();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
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
