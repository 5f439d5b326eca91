package dev.lukko.cli;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The shell that has started this JVM for {@code lukko run}, and runs COMMAND. What the two say to
 * each other is in {@code src/main/sh/run.sh}. Standard input and output are pipes to it.
 */
final class LaunchingShell {

  private static final String EXITED = "exited ";

  private final List<String> words;
  private final long pid;
  private final ProcessHandle child;
  private final PrintStream out =
      new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
  private final CompletableFuture<Integer> ended = new CompletableFuture<>();
  private final CompletableFuture<Void> gone = new CompletableFuture<>();
  private boolean said;

  private LaunchingShell(List<String> words, long pid, ProcessHandle child) {
    this.words = List.copyOf(words);
    this.pid = pid;
    this.child = child;
  }

  /**
   * The shell, if one has started this JVM.
   *
   * @param words the command line, as the shell has it too
   */
  static Optional<LaunchingShell> of(String... words) {
    Long shell = Long.getLong("lukko.shell");
    Long child = Long.getLong("lukko.child");
    if (shell == null || child == null) {
      return Optional.empty();
    }
    LaunchingShell launching =
        // A child that has ended already is found to have done so.
        ProcessHandle.of(child)
            .map(process -> new LaunchingShell(List.of(words), shell, process))
            .orElseGet(() -> new LaunchingShell(List.of(words), shell, ProcessHandle.current()));
    Thread listener = new Thread(launching::listen, "lukko-shell");
    listener.setDaemon(true);
    listener.start();
    return Optional.of(launching);
  }

  private void listen() {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith(EXITED)) {
          ended.complete(Integer.parseInt(line.substring(EXITED.length())));
        }
      }
      gone.complete(null);
    } catch (IOException | NumberFormatException broken) {
      gone.complete(null);
    }
  }

  /** The shell's process, which is what a user sees as lukko. */
  long pid() {
    return pid;
  }

  /** The process that becomes COMMAND. */
  ProcessHandle child() {
    return child;
  }

  /** The exit code with which that has ended. */
  CompletableFuture<Integer> ended() {
    return ended;
  }

  /** Completed when the shell has died. */
  CompletableFuture<Void> gone() {
    return gone;
  }

  /** Lets it become COMMAND. The shell finds the words among its own. */
  void go(long token, RunWords run) {
    int commandAt = words.size() - run.command().size();
    int resourceAt = words.subList(0, commandAt).lastIndexOf(run.resource());
    OddVariables.of(pid).forEach(variable -> say("env " + variable));
    say("go " + token + " " + (resourceAt + 1) + " " + (commandAt + 1));
  }

  /**
   * The last words: what stands on standard output, and the exit code.
   *
   * @param text lines
   */
  void end(String text, int exitCode) {
    if (!said) {
      say("no");
    }
    text.lines().forEach(line -> say("out " + line));
    say("end " + exitCode);
  }

  private void say(String line) {
    said = true;
    out.println(line);
    if (out.checkError() && !gone.isDone()) {
      throw new UncheckedIOException(new IOException("the shell that started lukko does not read"));
    }
  }
}
