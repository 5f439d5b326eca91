package dev.lukko.cli.process;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A process and all that it has started, directly or not, to be ended together.
 *
 * <p>A descendant whose parent ends goes to another parent and can no longer be found from here, so
 * every one that was ever seen is kept. One that had cut itself off before the first look, as a
 * daemon does, is out of reach. Not thread-safe.
 */
public final class ProcessTree {

  private static final long LOOK_AGAIN_MILLIS = 50;
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(5);

  private final Set<ProcessHandle> seen = new LinkedHashSet<>();

  /** The tree below a process, and the process itself. */
  public ProcessTree(ProcessHandle root) {
    seen.add(root);
    look();
  }

  /** Asks every process of the tree to end, by TERM; waits for none. */
  public void terminate() {
    look();
    for (ProcessHandle process : alive()) {
      Signal.TERM.sendTo(process);
    }
  }

  /**
   * Waits until every process of the tree has ended, and kills the rest at the end of the grace.
   *
   * @param grace how long to wait; zero or less kills at once
   * @return how many processes it has killed; {@link #alive()} are those that it could not kill
   */
  public int endWithin(Duration grace) {
    long deadlineNanos = System.nanoTime() + saturatedNanos(grace);
    while (true) {
      look();
      long leftNanos = deadlineNanos - System.nanoTime();
      if (alive().isEmpty()) {
        return 0;
      }
      if (leftNanos <= 0) {
        return kill();
      }
      await(Math.min(leftNanos, TimeUnit.MILLISECONDS.toNanos(LOOK_AGAIN_MILLIS)));
    }
  }

  private int kill() {
    long deadlineNanos = System.nanoTime() + KILL_TIMEOUT.toNanos();
    Set<ProcessHandle> killed = new LinkedHashSet<>();
    while (true) {
      // Looked for again each time: a process may have been started while others were killed.
      look();
      List<ProcessHandle> rest = alive();
      if (rest.isEmpty() || System.nanoTime() - deadlineNanos > 0) {
        rest.forEach(killed::remove);
        return killed.size();
      }
      rest.stream().filter(ProcessHandle::destroyForcibly).forEach(killed::add);
      await(TimeUnit.MILLISECONDS.toNanos(LOOK_AGAIN_MILLIS));
    }
  }

  private void look() {
    for (ProcessHandle process : List.copyOf(seen)) {
      process.descendants().forEach(seen::add);
    }
  }

  /** The processes of the tree that have not ended, as far as they were ever seen. */
  public List<ProcessHandle> alive() {
    return seen.stream()
        .filter(process -> process.isAlive() && !ProcessState.isZombie(process.pid()))
        .toList();
  }

  /** Waits until all have ended, or the time is over, interrupted or not. */
  private void await(long nanos) {
    CompletableFuture<?> allEnded =
        CompletableFuture.allOf(
            alive().stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new));
    long deadlineNanos = System.nanoTime() + nanos;
    boolean interrupted = false;
    try {
      while (true) {
        try {
          allEnded.get(Math.max(0, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException notYet) {
          return;
        } catch (ExecutionException impossible) {
          throw new IllegalStateException(impossible);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static long saturatedNanos(Duration duration) {
    try {
      return Math.min(duration.toNanos(), Long.MAX_VALUE / 2);
    } catch (ArithmeticException tooLong) {
      return duration.isNegative() ? 0 : Long.MAX_VALUE / 2;
    }
  }
}
