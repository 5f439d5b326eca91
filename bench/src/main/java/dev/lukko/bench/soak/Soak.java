package dev.lukko.bench.soak;

import dev.lukko.Lease;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServer;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** One run: faults for a while, then none, then the count. */
final class Soak {
  private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Clocks jump in the last third only, since mutual exclusion is not promised from then on. */
  private static final double CLOCKS_FROM = 2.0 / 3;

  private final SoakPlan plan;
  private final PrintStream out;
  private final Journal journal = new Journal();
  private final List<String> problems = new ArrayList<>();

  Soak(SoakPlan plan, PrintStream out) {
    this.plan = plan;
    this.out = out;
  }

  SoakReport run() throws InterruptedException {
    boolean clocks = plan.faults().contains(FaultKind.SERVER_CLOCK_JUMPED);
    Bed bed = Bed.start(plan.clients(), clocks, out::println);
    Clients clients = new Clients(plan, bed, journal);
    SoakReport report;
    try {
      admit(bed);
      clients.start();
      report = run(bed, clients);
    } finally {
      clients.close();
      bed.close();
    }
    clients.alive().forEach(name -> problems.add("client " + name + " is still there"));
    bed.alive().forEach(server -> problems.add(server + " is still there"));
    return new SoakReport(
        plan,
        report.took(),
        report.faults(),
        journal,
        report.verdict(),
        report.livenessMillis(),
        List.copyOf(problems));
  }

  private SoakReport run(Bed bed, Clients clients) throws InterruptedException {
    long start = System.nanoTime();
    long nanos = plan.duration().toNanos();
    Faults faults = new Faults(plan, bed, clients, journal, start + (long) (nanos * CLOCKS_FROM));
    try {
      faults.start();
      long nextProgress = start + PROGRESS_NANOS;
      for (long now = start; now - start < nanos && problems.isEmpty(); now = System.nanoTime()) {
        LockSupport.parkNanos(POLL_NANOS);
        problems.addAll(clients.died(faults.killed()));
        if (now - nextProgress >= 0) {
          progress(now - start, faults);
          nextProgress += PROGRESS_NANOS;
        }
      }
      faults.end();
    } finally {
      faults.close();
    }
    Throwable failure = faults.failure();
    if (failure != null) {
      problems.add("a fault could not be made or ended: " + failure);
    }
    bed.heal();
    long livenessMillis = awaitGrant();
    problems.addAll(clients.stop());
    if (plan.mode() != SoakMode.WITHOUT_LOCK) {
      lookForLeftovers(bed);
      lookAtNextToken(bed);
    }
    Verdict verdict = Verdict.of(bed.pages(), journal, plan.mode() == SoakMode.FENCED);
    problems.addAll(verdict.problems());
    if (plan.promisesMutualExclusion() && journal.refusedWhileValidAndClocksRight() > 0) {
      problems.add(
          journal.refusedWhileValidAndClocksRight()
              + " holders were overtaken while their lease was valid and all clocks were right");
    }
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    return new SoakReport(
        plan, took, faults.counts(), journal, verdict, livenessMillis, List.copyOf(problems));
  }

  /** A new deployment is admitted as a whole, while all of its servers can be reached. */
  private static void admit(Bed bed) {
    try (Redlock first = client(bed)) {
      first.acquire(SoakPlan.LOCK, SoakPlan.TTL).release();
    }
  }

  private static Redlock client(Bed bed) {
    return Redlock.builder()
        .nodes(
            RedisNode.builder().connectAll(bed.servers().stream().map(RedisServer::url).toList()))
        .maxTtl(SoakPlan.MAX_TTL)
        .nodeTimeout(SoakPlan.NODE_TIMEOUT)
        .build();
  }

  private void progress(long nanos, Faults faults) {
    out.printf(
        Locale.ROOT,
        "%5d s  acknowledged %d  grants %d  losses %d  refused %d  unknown %d  faults %d%n",
        TimeUnit.NANOSECONDS.toSeconds(nanos),
        journal.acknowledgedCount(),
        journal.count(Said.GRANTED),
        journal.losses(),
        journal.count(Said.REFUSED),
        journal.count(Said.UNKNOWN),
        faults.count());
  }

  /** Liveness: how long it takes from now on until somebody is granted the lock. */
  private long awaitGrant() {
    if (plan.mode() == SoakMode.WITHOUT_LOCK) {
      return 0;
    }
    long healed = System.nanoTime();
    boolean granted = await(() -> journal.lastGrantNanos() - healed > 0, SoakPlan.LIVENESS_BOUND);
    if (!granted) {
      problems.add(
          "nobody was granted the lock within "
              + SoakPlan.LIVENESS_BOUND.toSeconds()
              + " s after all faults had ended");
    }
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - healed);
  }

  /** Only who was killed leaves an entry, until its lease ends. */
  private void lookForLeftovers(Bed bed) {
    if (!await(() -> bed.entries().isEmpty(), SoakPlan.MAX_TTL.multipliedBy(2))) {
      bed.entries().forEach(entry -> problems.add("left behind: " + entry));
    }
  }

  private void lookAtNextToken(Bed bed) {
    try (Redlock last = client(bed);
        Lease lease = last.acquire(SoakPlan.LOCK, SoakPlan.TTL)) {
      long highest = journal.granted().keySet().stream().mapToLong(token -> token).max().orElse(0);
      if (lease.fencingToken() <= highest) {
        problems.add("token " + lease.fencingToken() + " comes after " + highest);
      }
    } catch (LockNotAcquiredException refused) {
      problems.add("the free lock was not granted at the end: " + refused.getMessage());
    }
  }

  private static boolean await(BooleanSupplier condition, Duration bound) {
    long deadline = System.nanoTime() + bound.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline >= 0) {
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    return true;
  }
}
