package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Contenders that add one to a fenced value under the lock again and again, while something happens
 * every {@value #TURN_MILLIS} ms. Each addition that the resource acknowledged must be in the value
 * at the end: two holders that both read the same value cannot both write (F3).
 */
final class Contest {
  private static final int TURN_MILLIS = 50;

  private final Ledger ledger;
  private final List<Redlock> clients;
  private final int contenders;
  private final LockRequest request;
  private final AtomicIntegerArray grants;
  private final AtomicLong added = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong misses = new AtomicLong();
  private Duration length = Duration.ZERO;

  Contest(Ledger ledger, List<Redlock> clients, int contenders, LockRequest request) {
    this.ledger = ledger;
    this.clients = clients;
    this.contenders = contenders;
    this.request = request;
    this.grants = new AtomicIntegerArray(contenders);
  }

  /** As long as the table says in the profile for faults, else short. */
  static Duration length() {
    return Duration.ofSeconds(Integer.getInteger("lukko.faultRows.seconds", 3));
  }

  /** Goes on for a time, ends the faults, and waits for the contenders' last turns. */
  void run(Duration length, Runnable fault, Runnable heal) {
    this.length = length;
    AtomicBoolean over = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(contenders);
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    try (FencedResource resource = new FencedResource()) {
      resource.write(0, "0");
      List<CompletableFuture<Void>> work = new ArrayList<>();
      for (int i = 0; i < contenders; i++) {
        int contender = i;
        work.add(
            CompletableFuture.runAsync(
                () -> {
                  while (!over.get()) {
                    enter(contender, resource);
                  }
                },
                threads));
      }
      CompletableFuture<Void> faults = new CompletableFuture<>();
      timer.scheduleAtFixedRate(
          () -> {
            try {
              fault.run();
            } catch (Throwable failure) {
              faults.completeExceptionally(failure);
            }
          },
          TURN_MILLIS,
          TURN_MILLIS,
          TimeUnit.MILLISECONDS);
      timer.schedule(() -> faults.complete(null), length.toMillis(), TimeUnit.MILLISECONDS);
      CompletableFuture<Void> any = CompletableFuture.allOf(work.toArray(CompletableFuture[]::new));
      assertThat(CompletableFuture.anyOf(faults, any)).succeedsWithin(length.plusSeconds(30));
      over.set(true);
      timer.shutdownNow();
      await().until(timer::isTerminated);
      heal.run();
      assertThat(any).succeedsWithin(Duration.ofSeconds(75));
      assertThat(resource.value()).as("acknowledged additions").isEqualTo(added.toString());
    } finally {
      over.set(true);
      timer.shutdownNow();
      threads.shutdownNow();
    }
  }

  private void enter(int contender, FencedResource resource) {
    Lease lease;
    try {
      lease = ledger.acquire(clients.get(contender % clients.size()), request);
    } catch (LockNotAcquiredException missed) {
      misses.incrementAndGet();
      return;
    }
    grants.incrementAndGet(contender);
    Optional<String> value = resource.read(lease.fencingToken());
    if (value.isPresent()
        && resource.write(lease.fencingToken(), Long.toString(Long.parseLong(value.get()) + 1))) {
      added.incrementAndGet();
    } else {
      refused.incrementAndGet();
    }
    ledger.close(lease);
  }

  List<Integer> grantsOfEach() {
    List<Integer> each = new ArrayList<>();
    for (int i = 0; i < contenders; i++) {
      each.add(grants.get(i));
    }
    return each;
  }

  String describe() {
    List<Integer> each = grantsOfEach();
    int sum = each.stream().mapToInt(Integer::intValue).sum();
    return contenders
        + " contenders for "
        + length.toSeconds()
        + " s: "
        + sum
        + " grants, "
        + each.stream().mapToInt(Integer::intValue).min().orElse(0)
        + " at least for each, "
        + misses
        + " calls without; "
        + added
        + " acknowledged additions, none lost, "
        + refused
        + " refused";
  }
}
