package dev.lukko.bench.soak;

import dev.lukko.bench.ServerClocks;
import dev.lukko.bench.soak.Faults.Ending;
import dev.lukko.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Faults of the five servers. Not thread-safe. */
final class ServerFaults {
  private static final int MOST_PAUSED = 3;
  private static final int LONGEST_PAUSE_MILLIS = 2_500;
  private static final int LONGEST_DEATH_MILLIS = 1_500;
  private static final int LONGEST_UNWRITTEN_MILLIS = 400;
  private static final int LONGEST_WRONG_TIME_MILLIS = 3_000;

  private final Bed bed;
  private final Random random;
  private final int mayForget;
  private final Journal journal;
  private final long clocksFromNanos;
  private final boolean[] busy = new boolean[SoakPlan.NODES];

  /** Servers that may lack something that they granted, until they vote again. */
  private final boolean[] forgetful = new boolean[SoakPlan.NODES];

  ServerFaults(Bed bed, Random random, int mayForget, Journal journal, long clocksFromNanos) {
    this.bed = bed;
    this.random = random;
    this.mayForget = mayForget;
    this.journal = journal;
    this.clocksFromNanos = clocksFromNanos;
  }

  @Nullable Ending pause() {
    int roll = random.nextInt(10);
    int wanted = roll < 7 ? 1 : roll < 9 ? 2 : MOST_PAUSED;
    List<Integer> chosen = new ArrayList<>();
    for (int server : Faults.idle(busy)) {
      chosen.add(server);
    }
    Collections.shuffle(chosen, random);
    List<Integer> paused = List.copyOf(chosen.subList(0, Math.min(wanted, chosen.size())));
    if (paused.isEmpty()) {
      return null;
    }
    for (int server : paused) {
      busy[server] = true;
      bed.server(server).pause();
    }
    return new Ending(
        50 + random.nextInt(LONGEST_PAUSE_MILLIS),
        () -> {
          for (int server : paused) {
            bed.server(server).resume();
            busy[server] = false;
          }
        });
  }

  @Nullable Ending kill() {
    int server = oneThatMayForget();
    if (server < 0) {
      return null;
    }
    busy[server] = true;
    forgetful[server] = true;
    bed.server(server).kill();
    return new Ending(
        random.nextInt(LONGEST_DEATH_MILLIS),
        () -> {
          bed.server(server).restart();
          busy[server] = false;
        });
  }

  @Nullable Ending flush() {
    int server = oneThatMayForget();
    if (server < 0) {
      return null;
    }
    forgetful[server] = true;
    bed.server(server).command("FLUSHALL");
    return new Ending(0, () -> {});
  }

  @Nullable Ending losePower() {
    int server = oneThatMayForget();
    if (server < 0 || !bed.hasFile(server)) {
      return null;
    }
    busy[server] = true;
    forgetful[server] = true;
    RedisServer losing = bed.server(server);
    long written = losing.appendOnlyFileSizeBytes();
    return new Ending(
        random.nextInt(LONGEST_UNWRITTEN_MILLIS),
        () -> {
          losing.kill();
          losing.truncateAppendOnlyFile(written);
          losing.restart();
          busy[server] = false;
        });
  }

  @Nullable Ending jump() {
    int server = oneOf(Faults.idle(busy));
    Optional<ServerClocks.Clock> clock = server < 0 ? Optional.empty() : bed.clock(server);
    if (clock.isEmpty() || System.nanoTime() - clocksFromNanos < 0) {
      return null;
    }
    journal.clocksMayBeWrong();
    busy[server] = true;
    long twoTtl = 2 * SoakPlan.TTL.toMillis();
    clock.get().set(Duration.ofMillis(random.nextLong(-twoTtl, twoTtl)));
    return new Ending(
        50 + random.nextInt(LONGEST_WRONG_TIME_MILLIS),
        () -> {
          clock.get().set(Duration.ZERO);
          busy[server] = false;
        });
  }

  /** A server that runs and may lose its memory now; -1 if there is none. */
  private int oneThatMayForget() {
    int server = oneOf(Faults.idle(busy));
    if (server < 0) {
      return -1;
    }
    int others = 0;
    for (int i = 0; i < SoakPlan.NODES; i++) {
      if (forgetful[i] && !busy[i] && bed.votes(i)) {
        forgetful[i] = false;
      }
      others += forgetful[i] && i != server ? 1 : 0;
    }
    return others < mayForget ? server : -1;
  }

  private int oneOf(int[] candidates) {
    return candidates.length == 0 ? -1 : candidates[random.nextInt(candidates.length)];
  }
}
