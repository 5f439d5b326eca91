package dev.lukko.cli;

import dev.lukko.Lease;
import java.io.IOException;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/** The process of COMMAND: how it is started under a lease, and what is heard of it. */
sealed interface CommandProcess extends AutoCloseable permits OwnCommand, ShellCommand {

  /** The exit code to leave with instead of starting it, once a signal has come before. */
  OptionalInt early();

  /** Starts it. From now on it gets the signals. */
  void start(Lease lease, RunWords words) throws IOException;

  /** The started process. */
  ProcessHandle handle();

  /** Its exit code, or 128 and the number of the signal that ended it. */
  CompletableFuture<Integer> ended();

  /** Completed when nobody is left who would wait for it. */
  CompletableFuture<Void> abandoned();

  /** It gets no signals any more. */
  void detach();

  @Override
  void close();
}
