package dev.lukko.bench.soak;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes one fault after the other, several at a time, and ends each after a while. All of it
 * happens in one thread.
 */
final class Faults implements AutoCloseable {
  private static final int SHORTEST_PAUSE_MILLIS = 50;
  private static final int LONGEST_PAUSE_MILLIS = 800;
  private static final int TRIES = 5;

  /** What a lock alone cannot stand comes more often than its share. */
  private static final int PAUSES_OF_CLIENTS = 4;

  private static final long END_SECONDS = 60;

  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          work -> {
            Thread made = new Thread(work, "lukko-soak-faults");
            made.setDaemon(true);
            return made;
          });

  private final List<FaultKind> kinds;
  private final Random random;
  private final ServerFaults servers;
  private final NetworkFaults network;
  private final ClientFaults clients;
  private final Map<FaultKind, Integer> counts = new EnumMap<>(FaultKind.class);
  private final Set<Ending> open = new LinkedHashSet<>();
  private @Nullable Throwable failure;
  private boolean ended;

  /** How a fault ends. */
  record Ending(int afterMillis, Runnable action) {}

  Faults(SoakPlan plan, Bed bed, Clients clients, Journal journal, long clocksFromNanos) {
    this.kinds =
        plan.faults().stream()
            .sorted()
            .flatMap(
                kind ->
                    Stream.generate(() -> kind)
                        .limit(kind == FaultKind.CLIENT_PAUSED ? PAUSES_OF_CLIENTS : 1))
            .toList();
    this.random = new Random(plan.seed());
    this.servers = new ServerFaults(bed, random, plan.mayForget(), journal, clocksFromNanos);
    this.network = new NetworkFaults(bed, random, plan.clients());
    this.clients = new ClientFaults(bed, clients, random, plan.clients(), journal);
  }

  void start() {
    if (!kinds.isEmpty()) {
      thread.schedule(this::strike, SHORTEST_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void strike() {
    if (ended) {
      return;
    }
    guarded(
        () -> {
          for (int i = 0; i < TRIES; i++) {
            FaultKind kind = kinds.get(random.nextInt(kinds.size()));
            Ending ending = make(kind);
            if (ending != null) {
              synchronized (this) {
                counts.merge(kind, 1, Integer::sum);
              }
              open.add(ending);
              thread.schedule(() -> end(ending), ending.afterMillis, TimeUnit.MILLISECONDS);
              break;
            }
          }
        });
    int pause = SHORTEST_PAUSE_MILLIS + random.nextInt(LONGEST_PAUSE_MILLIS);
    thread.schedule(this::strike, pause, TimeUnit.MILLISECONDS);
  }

  private void end(Ending ending) {
    if (open.remove(ending)) {
      guarded(ending.action);
    }
  }

  private @Nullable Ending make(FaultKind kind) {
    return switch (kind) {
      case SERVER_PAUSED -> servers.pause();
      case SERVER_KILLED -> servers.kill();
      case SERVER_FLUSHED -> servers.flush();
      case SERVER_POWER_LOST -> servers.losePower();
      case SERVER_CLOCK_JUMPED -> servers.jump();
      case NETWORK_HELD,
          NETWORK_REQUESTS_HELD,
          NETWORK_REPLIES_HELD,
          NETWORK_SLOW,
          NETWORK_CUT,
          REPLY_LOST,
          RESET_AT_REPLY,
          RESET_AT_REQUEST ->
          network.make(kind);
      case CLIENT_PAUSED -> clients.pause();
      case CLIENT_KILLED -> clients.kill();
      case SET_UNREACHABLE -> clients.spoilSet();
    };
  }

  private void guarded(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException | Error e) {
      synchronized (this) {
        if (failure == null) {
          failure = e;
        }
      }
    }
  }

  /** What went wrong in making faults, which makes the run worthless. */
  synchronized @Nullable Throwable failure() {
    return failure;
  }

  synchronized Map<FaultKind, Integer> counts() {
    return new EnumMap<>(counts);
  }

  synchronized int count() {
    return counts.values().stream().mapToInt(Integer::intValue).sum();
  }

  /** The places of clients that are dead now because of a fault. */
  boolean[] killed() {
    return clients.killed();
  }

  /** Ends all faults and makes no more; the servers and networks themselves are not looked at. */
  void end() throws InterruptedException {
    thread.execute(
        () -> {
          ended = true;
          open.forEach(ending -> guarded(ending.action));
          open.clear();
        });
    thread.shutdown();
    if (!thread.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the faults did not end within " + END_SECONDS + " s");
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }

  /** Those of a number of things that no fault is at. */
  static int[] idle(boolean[] busy) {
    int[] idle = new int[busy.length];
    int count = 0;
    for (int i = 0; i < busy.length; i++) {
      if (!busy[i]) {
        idle[count++] = i;
      }
    }
    return Arrays.copyOf(idle, count);
  }
}
