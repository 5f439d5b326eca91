package dev.lukko.cli;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A place at which a shell script waits until the test opens it. */
final class Gate {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final Path reached;
  private final Path open;

  Gate(Path directory, String name) {
    this.reached = directory.resolve(name + ".reached");
    this.open = directory.resolve(name + ".open");
  }

  /**
   * A line of a script that says it is there, and waits; not for longer than the directory exists,
   * so that a failed test leaves no process.
   */
  String script() {
    return "echo $$ > '"
        + reached
        + ".new'; mv '"
        + reached
        + ".new' '"
        + reached
        + "'; while [ -e '"
        + reached
        + "' ] && [ ! -e '"
        + open
        + "' ]; do sleep 0.02; done";
  }

  /** Waits until the script is there; returns the process of its shell. */
  ProcessHandle awaitReached() {
    await().atMost(TIMEOUT).until(() -> Files.exists(reached));
    return process(reached);
  }

  void open() {
    try {
      Files.createFile(open);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The process whose id is in a file. */
  static ProcessHandle process(Path file) {
    try {
      return ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
