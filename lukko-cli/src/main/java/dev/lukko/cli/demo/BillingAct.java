package dev.lukko.cli.demo;

import dev.lukko.cli.demo.DemoResult.Counts;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** All workers bill one book at the same time, while the progress is shown. */
final class BillingAct {

  private static final long DRAW_MILLIS = 100;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int BAR_WIDTH = 24;

  private final Screen screen;
  private final Book book;
  private int shownQuarters;

  BillingAct(Screen screen, Book book) {
    this.screen = screen;
    this.book = book;
  }

  /** Gives every worker the same job and returns the audit when the last one is done. */
  Counts play(List<WorkerProcess> workers, String job) throws InterruptedException {
    List<CompletableFuture<String>> answers =
        workers.stream().map(worker -> worker.ask(job)).toList();
    CompletableFuture<Void> all =
        CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new));
    long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
    while (!all.isDone() && System.nanoTime() - deadlineNanos < 0) {
      show(book.audit());
      awaitAny(all, answers);
    }
    for (CompletableFuture<String> answer : answers) {
      WorkerProcess.await(answer, Duration.ZERO);
    }
    Counts counts = book.audit();
    show(counts);
    screen.wipe();
    return counts;
  }

  /** Waits a moment; a worker that fails ends the wait for the others. */
  private static void awaitAny(CompletableFuture<Void> all, List<CompletableFuture<String>> answers)
      throws InterruptedException {
    try {
      all.get(DRAW_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException notYet) {
      for (CompletableFuture<String> answer : answers) {
        if (answer.isCompletedExceptionally()) {
          WorkerProcess.await(answer, Duration.ZERO);
        }
      }
    } catch (ExecutionException failed) {
      // The caller looks at each answer.
    }
  }

  private void show(Counts counts) {
    if (screen.isLive()) {
      int filled = BAR_WIDTH * counts.posted() / counts.invoices();
      screen.progress(
          "  [" + "#".repeat(filled) + "-".repeat(BAR_WIDTH - filled) + "] " + text(counts));
      return;
    }
    int quarters = 4 * counts.posted() / counts.invoices();
    if (quarters > shownQuarters) {
      shownQuarters = quarters;
      screen.line("  " + text(counts));
    }
  }

  private static String text(Counts counts) {
    return counts.posted()
        + " of "
        + counts.invoices()
        + " posted, "
        + counts.doubleCharges()
        + " charged twice";
  }
}
