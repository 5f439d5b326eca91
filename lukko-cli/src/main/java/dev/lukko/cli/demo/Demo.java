package dev.lukko.cli.demo;

import dev.lukko.cli.demo.DemoResult.Counts;
import dev.lukko.fencing.InMemoryFence;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The whole story: what it needs is started before the first act and gone after the last. */
public final class Demo {

  private static final int NODES = 5;
  private static final int WORKERS = 3;
  private static final int INVOICES = 200;
  private static final int KILL_AFTER = INVOICES * 3 / 10;
  private static final int HANG_AFTER = INVOICES * 6 / 10;
  private static final int NODE_TO_KILL = 1;
  private static final int NODE_TO_HANG = 3;
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration START_TIMEOUT = Duration.ofSeconds(30);

  private final Screen screen;
  private final Book unlocked = new Book(INVOICES, null);
  private final Book redlock = new Book(INVOICES, null);
  private final Book withoutFence = new Book(1, null);
  private final Book withFence = new Book(1, new InMemoryFence());

  /** A demo that is told on a screen. */
  public Demo(Screen screen) {
    this.screen = screen;
  }

  /**
   * Plays the three acts.
   *
   * @throws DemoFailedException if they could not be carried through
   * @throws InterruptedException if this thread was interrupted; all processes are gone then, too
   */
  public DemoResult run() throws IOException, InterruptedException {
    screen.line("Starting " + NODES + " Redis servers and " + WORKERS + " worker processes.");
    Map<String, Book> books =
        Map.of(
            "unlocked", unlocked,
            "redlock", redlock,
            "without-fence", withoutFence,
            "with-fence", withFence);
    try (Cluster cluster = Cluster.start(NODES);
        LedgerServer ledger = new LedgerServer(books);
        Workers workers = new Workers()) {
      screen.line("Redis on ports " + cluster.ports() + ".");
      workers.start(WORKERS, ledger.port(), cluster.urls(), START_TIMEOUT);
      return play(cluster, workers.all());
    } finally {
      screen.wipe();
    }
  }

  private DemoResult play(Cluster cluster, List<WorkerProcess> workers)
      throws InterruptedException {
    screen.heading(
        "Act 1. No lock: " + WORKERS + " workers bill the same " + INVOICES + " invoices.");
    Counts withoutLock = new BillingAct(screen, unlocked).play(workers, "BILL unlocked");
    screen.line(
        "  Each looks whether one is pending, thinks, and posts it: "
            + screen.bad(withoutLock.doubleCharges() + " double charges."));

    screen.heading("Act 2. Redlock: the same, while nodes fail.");
    redlock.at(KILL_AFTER, () -> kill(cluster));
    redlock.at(HANG_AFTER, () -> hang(cluster));
    Counts underLock =
        new BillingAct(screen, redlock).play(workers, "BILL-LOCKED redlock " + TTL.toMillis());
    int killed = cluster.killed();
    int hung = cluster.hung();
    screen.line("  " + verdict(underLock));

    screen.heading("Act 3. A holder is stopped past its ttl, and goes on.");
    screen.line("  Without a fence:");
    Counts unfenced =
        new PausedHolderAct(screen, "without-fence", withoutFence)
            .play(workers.get(0), workers.get(1));
    screen.line("  With a fence, which refuses tokens below the highest it has seen:");
    Counts fenced =
        new PausedHolderAct(screen, "with-fence", withFence).play(workers.get(1), workers.get(2));
    return new DemoResult(withoutLock, underLock, killed, hung, unfenced, fenced);
  }

  private void kill(Cluster cluster) {
    cluster.kill(NODE_TO_KILL);
    screen.line("  the Redis on port " + cluster.port(NODE_TO_KILL) + " is killed (SIGKILL)");
  }

  private void hang(Cluster cluster) {
    cluster.hang(NODE_TO_HANG);
    screen.line("  the Redis on port " + cluster.port(NODE_TO_HANG) + " hangs (SIGSTOP)");
  }

  private String verdict(Counts counts) {
    String text =
        counts.posted()
            + " of "
            + counts.invoices()
            + " invoices posted, "
            + counts.doubleCharges()
            + " double charges.";
    boolean right = counts.posted() == counts.invoices() && counts.doubleCharges() == 0;
    return right ? screen.good(text) : screen.bad(text);
  }

  /** The worker processes, ended together. */
  private static final class Workers implements AutoCloseable {
    private final List<WorkerProcess> workers = new ArrayList<>();

    void start(int count, int ledgerPort, List<String> nodes, Duration timeout)
        throws IOException, InterruptedException {
      for (int number = 1; number <= count; number++) {
        workers.add(WorkerProcess.start("worker " + number, ledgerPort, nodes));
      }
      for (WorkerProcess worker : workers) {
        WorkerProcess.await(worker.ready(), timeout);
      }
    }

    List<WorkerProcess> all() {
      return List.copyOf(workers);
    }

    @Override
    public void close() {
      workers.forEach(WorkerProcess::close);
    }
  }
}
