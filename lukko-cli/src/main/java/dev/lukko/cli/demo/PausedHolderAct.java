package dev.lukko.cli.demo;

import dev.lukko.cli.demo.DemoResult.Counts;
import dev.lukko.cli.process.Stopped;
import java.time.Duration;

/**
 * A holder is stopped between the last look at its lease and its write; another worker takes over;
 * the first one goes on.
 */
final class PausedHolderAct {

  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration MAX_WAIT = Duration.ofSeconds(10);
  private static final Duration TIMEOUT = Duration.ofSeconds(15);
  private static final int INVOICE = 1;

  private final Screen screen;
  private final String bookName;
  private final Book book;

  PausedHolderAct(Screen screen, String bookName, Book book) {
    this.screen = screen;
    this.bookName = bookName;
    this.book = book;
  }

  /** Plays the act and returns the audit of its book. */
  Counts play(WorkerProcess holder, WorkerProcess successor) throws InterruptedException {
    String invoice = bookName + " " + INVOICE + " " + TTL.toMillis();
    screen.progress("    " + holder.name() + " takes the lock");
    String token = lastWord(holder.call("HOLD " + invoice, TIMEOUT));
    Stopped stopped = Stopped.stop(holder.handle());
    screen.line(
        "    " + holder.name() + " holds the lock (token " + token + ") and is stopped (SIGSTOP)");
    screen.progress("    " + successor.name() + " waits for the end of the ttl");
    String taken = successor.call("TAKE-OVER " + invoice + " " + MAX_WAIT.toMillis(), TIMEOUT);
    screen.line(
        "    " + successor.name() + " gets the lock (token " + lastWord(taken) + ") and posts");
    // The order to write lies in the holder's pipe when it wakes; its look at the lease is over.
    var write = holder.ask("WRITE");
    stopped.resume();
    boolean landed = WorkerProcess.await(write, TIMEOUT).equals("LANDED");
    screen.line(
        "    "
            + holder.name()
            + " goes on and writes: "
            + (landed ? screen.bad("the stale write lands") : screen.good("the fence refuses it")));
    return book.audit();
  }

  private static String lastWord(String answer) {
    return answer.substring(answer.lastIndexOf(' ') + 1);
  }
}
