package dev.lukko.cli.wrapper;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/** What runs a command under a lock: flock, and the real lukko under each shell. */
enum Wrapper {
  FLOCK("flock"),
  LUKKO_SH("sh"),
  LUKKO_BASH("bash"),
  LUKKO_BUSYBOX("busybox");

  private final String program;

  Wrapper(String program) {
    this.program = program;
  }

  /** The lukko of every shell. */
  static Stream<Wrapper> lukko() {
    return all().filter(wrapper -> wrapper != FLOCK);
  }

  static Stream<Wrapper> all() {
    return Arrays.stream(values());
  }

  /** One of each kind. */
  static Stream<Wrapper> both() {
    return Stream.of(FLOCK, LUKKO_SH);
  }

  /**
   * As much of a shell's command line as stands before COMMAND. Skips the test where this machine
   * has no such program.
   */
  String words() {
    assumeTrue(isThere(), program + " is not on the PATH");
    return switch (this) {
      case FLOCK -> "flock -n \"$DIR/lock\"";
      case LUKKO_BUSYBOX -> "busybox sh \"$LUKKO\" run nightly --";
      default -> program + " \"$LUKKO\" run nightly --";
    };
  }

  private boolean isThere() {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }
}
