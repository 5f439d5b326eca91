package dev.lukko.cli.wrapper;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * What runs a command under a lock: flock, and the real lukko under each shell that this machine
 * has.
 */
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

  /** All that this machine has. */
  static Stream<Wrapper> all() {
    return Arrays.stream(values()).filter(Wrapper::isThere);
  }

  /** One of each kind. */
  static Stream<Wrapper> both() {
    return Stream.of(FLOCK, LUKKO_SH).filter(Wrapper::isThere);
  }

  /** As much of a shell's command line as stands before COMMAND. */
  String words() {
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
