package dev.lukko.cli.process;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A signal of POSIX, by its name: the numbers of some differ between systems. */
public enum Signal {
  /** The terminal was closed. */
  HUP(1),
  /** The user pressed Ctrl-C. */
  INT(2),
  /** A request to end. */
  TERM(15),
  /** Stops a process until {@link #CONT}; cannot be ignored. */
  STOP(0),
  /** Continues a stopped process. */
  CONT(0);

  private static final long SEND_TIMEOUT_MILLIS = 5_000;

  private final int number;

  Signal(int number) {
    this.number = number;
  }

  /** The exit code by which a shell reports a process that this signal has ended. */
  public int exitCode() {
    if (number == 0) {
      throw new IllegalStateException(this + " ends no process");
    }
    return 128 + number;
  }

  /**
   * Sends this signal to one process, and returns when it was sent.
   *
   * @return whether it could be sent; false if the process has ended
   */
  public boolean sendTo(ProcessHandle process) {
    if (!process.isAlive()) {
      return false;
    }
    if (this == TERM && process.supportsNormalTermination()) {
      return process.destroy();
    }
    try {
      // The shell's own kill: small images often lack the program of that name.
      Process kill =
          new ProcessBuilder("sh", "-c", "kill -s " + name() + " " + process.pid())
              .redirectInput(ProcessBuilder.Redirect.from(NULL_DEVICE))
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      return awaitUninterruptibly(kill) == 0;
    } catch (IOException noShell) {
      throw new IllegalStateException("cannot run sh to send " + this, noShell);
    }
  }

  private static final java.io.File NULL_DEVICE = new java.io.File("/dev/null");

  private static int awaitUninterruptibly(Process kill) {
    boolean interrupted = false;
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SEND_TIMEOUT_MILLIS);
    try {
      while (true) {
        try {
          if (kill.waitFor(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            return kill.exitValue();
          }
          kill.destroyForcibly();
          throw new IllegalStateException("sh did not end within " + SEND_TIMEOUT_MILLIS + " ms");
        } catch (InterruptedException e) {
          // A signal that was asked for is sent; the caller sees the flag afterwards.
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
