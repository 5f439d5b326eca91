package dev.lukko.cli.process;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A process that stands still between SIGSTOP and SIGCONT. */
public final class Stopped {

  private static final long STOP_TIMEOUT_MILLIS = 5_000;

  private final ProcessHandle process;

  private Stopped(ProcessHandle process) {
    this.process = process;
  }

  /**
   * Stops a process, and returns when it stands still.
   *
   * @throws IllegalStateException if it has ended, or goes on for 5 s
   */
  public static Stopped stop(ProcessHandle process) throws InterruptedException {
    if (!Signal.STOP.sendTo(process)) {
      throw new IllegalStateException("process " + process.pid() + " cannot be stopped");
    }
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_TIMEOUT_MILLIS);
    while (!standsStill(process)) {
      if (System.nanoTime() - deadlineNanos > 0) {
        throw new IllegalStateException("process " + process.pid() + " does not stand still");
      }
      TimeUnit.MILLISECONDS.sleep(2);
    }
    return new Stopped(process);
  }

  /** Lets the process go on. */
  public void resume() {
    Signal.CONT.sendTo(process);
  }

  /** Asks the kernel about each thread where it can be asked; elsewhere the signal has to do. */
  private static boolean standsStill(ProcessHandle process) {
    Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        if (ProcessState.of(thread) != 'T') {
          return false;
        }
      }
      return true;
    } catch (NoSuchFileException endedThread) {
      return !Files.exists(tasks);
    } catch (IOException | DirectoryIteratorException unreadable) {
      return true;
    }
  }
}
