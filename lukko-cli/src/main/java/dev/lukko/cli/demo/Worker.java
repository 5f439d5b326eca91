package dev.lukko.cli.demo;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockClient;
import dev.lukko.LockNotAcquiredException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a worker process does: it reads jobs, line by line, from the demo and answers each with one
 * line.
 *
 * <pre>
 * BILL book                          bills what is pending, without a lock        DONE
 * BILL-LOCKED book ttl               the same, with a lock for each invoice       DONE
 * HOLD book invoice ttl              takes the lock and looks at the invoice      HOLDING token
 * WRITE                              posts the invoice that it holds              LANDED or REFUSED
 * TAKE-OVER book invoice ttl wait    waits for the lock and posts the invoice     LANDED token
 * </pre>
 *
 * <p>Times are in milliseconds. The end of its input ends the worker, however the demo has ended.
 */
final class Worker {

  private static final int MIN_THINKING_MILLIS = 2;
  private static final int MAX_THINKING_MILLIS = 8;
  private static final String PENDING_AT_THE_CHECK = "the invoice was posted before it was held";

  private final LedgerClient ledger;
  private final Future<? extends LockClient> locks;
  private @Nullable Held held;

  /** An invoice that was found pending under a valid lease, and is to be posted. */
  private record Held(String book, int invoice, Lease lease) {}

  Worker(LedgerClient ledger, Future<? extends LockClient> locks) {
    this.ledger = ledger;
    this.locks = locks;
  }

  /** Answers job after job until the input ends. */
  void serve(BufferedReader in, PrintStream out) throws IOException {
    out.println("READY");
    String job = in.readLine();
    while (job != null) {
      out.println(answer(job));
      job = in.readLine();
    }
  }

  private String answer(String job) {
    String[] words = job.split(" ", -1);
    try {
      return switch (words[0]) {
        case "BILL" -> bill(words[1]);
        case "BILL-LOCKED" -> billLocked(words[1], millis(words[2]));
        case "HOLD" -> hold(words[1], Integer.parseInt(words[2]), millis(words[3]));
        case "WRITE" -> write();
        case "TAKE-OVER" ->
            takeOver(words[1], Integer.parseInt(words[2]), millis(words[3]), millis(words[4]));
        default -> "FAILED no job " + job;
      };
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "FAILED interrupted";
    } catch (IOException | ExecutionException | RuntimeException e) {
      return "FAILED " + e.toString().replace('\n', ' ');
    }
  }

  /**
   * Looks, thinks, posts: what many a nightly job does, and what nobody notices with one worker.
   */
  private String bill(String book) throws IOException, InterruptedException {
    while (true) {
      var pending = ledger.pending(book);
      if (pending.isEmpty()) {
        return "DONE";
      }
      for (int invoice : pending) {
        if (ledger.isPending(book, invoice)) {
          think();
          ledger.post(book, invoice, 0);
        }
      }
    }
  }

  private String billLocked(String book, Duration ttl)
      throws IOException, InterruptedException, ExecutionException {
    while (true) {
      var pending = ledger.pending(book);
      if (pending.isEmpty()) {
        return "DONE";
      }
      for (int invoice : pending) {
        billLocked(book, invoice, ttl);
      }
    }
  }

  private void billLocked(String book, int invoice, Duration ttl)
      throws IOException, InterruptedException, ExecutionException {
    Optional<Lease> lease;
    try {
      lease = locks.get().tryAcquire(lockName(book, invoice), ttl);
    } catch (LockNotAcquiredException noDecision) {
      return; // the invoice stays pending, and comes again in the next pass
    }
    if (lease.isEmpty()) {
      return; // another worker has it
    }
    try (Lease ours = lease.get()) {
      if (ledger.isPending(book, invoice)) {
        think();
        ours.ensureValid();
        ledger.post(book, invoice, ours.fencingToken());
      }
    } catch (LeaseLostException tooLate) {
      // Not posted, or posted already: the next pass tells.
    }
  }

  private String hold(String book, int invoice, Duration ttl)
      throws IOException, InterruptedException, ExecutionException {
    Lease lease = locks.get().acquire(lockName(book, invoice), ttl);
    if (!ledger.isPending(book, invoice)) {
      throw new IllegalStateException(PENDING_AT_THE_CHECK);
    }
    lease.ensureValid();
    held = new Held(book, invoice, lease);
    return "HOLDING " + lease.fencingToken();
  }

  /** Writes without another look at the lease: between that look and the write there is a gap. */
  private String write() throws IOException {
    Held ours = held;
    if (ours == null) {
      throw new IllegalStateException("nothing is held");
    }
    boolean landed = ledger.post(ours.book(), ours.invoice(), ours.lease().fencingToken());
    ours.lease().release();
    held = null;
    return landed ? "LANDED" : "REFUSED";
  }

  private String takeOver(String book, int invoice, Duration ttl, Duration maxWait)
      throws IOException, InterruptedException, ExecutionException {
    Optional<Lease> lease = locks.get().tryAcquire(lockName(book, invoice), ttl, maxWait);
    try (Lease ours = lease.orElseThrow(() -> new IllegalStateException("the lock stayed held"))) {
      if (!ledger.isPending(book, invoice)) {
        throw new IllegalStateException(PENDING_AT_THE_CHECK);
      }
      boolean landed = ledger.post(book, invoice, ours.fencingToken());
      return (landed ? "LANDED " : "REFUSED ") + ours.fencingToken();
    }
  }

  private static String lockName(String book, int invoice) {
    return "demo:" + book + ":invoice:" + invoice;
  }

  private static Duration millis(String text) {
    return Duration.ofMillis(Long.parseLong(text));
  }

  private static void think() throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(
        ThreadLocalRandom.current().nextInt(MIN_THINKING_MILLIS, MAX_THINKING_MILLIS + 1));
  }
}
