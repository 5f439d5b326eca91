package dev.lukko.cli;

import dev.lukko.Lease;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/**
 * COMMAND as a child of the shell that has started this JVM. The shell passes signals on; one that
 * comes early ends the process that waits in COMMAND's place.
 */
final class ShellCommand implements CommandProcess {

  private static final int KILLED = 137;

  private final LaunchingShell shell;
  private final Thread waiter = Thread.currentThread();
  private OptionalInt early = OptionalInt.empty();
  private boolean started;

  ShellCommand(LaunchingShell shell) {
    this.shell = shell;
    shell.ended().thenAccept(this::endedEarly);
    shell.gone().thenAccept(gone -> endedEarly(KILLED));
  }

  private synchronized void endedEarly(int exitCode) {
    if (!started && early.isEmpty()) {
      early = OptionalInt.of(exitCode);
      waiter.interrupt();
    }
  }

  @Override
  public synchronized OptionalInt early() {
    return early;
  }

  @Override
  public synchronized void start(Lease lease, RunWords words) {
    started = true;
    // The interrupt was meant for the wait that is over.
    Thread.interrupted();
    shell.go(lease.fencingToken(), words);
  }

  @Override
  public ProcessHandle handle() {
    return shell.child();
  }

  @Override
  public CompletableFuture<Integer> ended() {
    return shell.ended();
  }

  @Override
  public CompletableFuture<Void> abandoned() {
    return shell.gone();
  }

  @Override
  public void detach() {
    // The shell knows that COMMAND has ended before this JVM does.
  }

  @Override
  public synchronized void close() {
    started = true; // an interrupt would come too late
  }
}
