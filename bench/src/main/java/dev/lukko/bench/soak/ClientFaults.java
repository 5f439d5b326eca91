package dev.lukko.bench.soak;

import dev.lukko.bench.soak.Faults.Ending;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Faults of clients, and between them and the set. Not thread-safe, but for {@link #killed}. */
final class ClientFaults {
  private static final int LONGEST_DEATH_MILLIS = 1_000;
  private static final int LONGEST_SPOILT_MILLIS = 1_500;
  private static final int LONGEST_DELAY_MILLIS = 200;

  private final Bed bed;
  private final Clients clients;
  private final Random random;
  private final Journal journal;
  private final boolean[] busy;
  private final boolean[] killed;

  ClientFaults(Bed bed, Clients clients, Random random, int count, Journal journal) {
    this.bed = bed;
    this.clients = clients;
    this.random = random;
    this.journal = journal;
    this.busy = new boolean[count];
    this.killed = new boolean[count];
  }

  /** Aims at the holder, since the others have little to lose. */
  @Nullable Ending pause() {
    Integer holder = random.nextInt(5) == 0 ? null : clients.placeOf(journal.holder());
    int place = holder != null ? holder : random.nextInt(busy.length);
    if (!isIdle(place)) {
      return null;
    }
    busy[place] = true;
    ClientProcess client = clients.at(place);
    client.pause();
    int ttlMillis = Math.toIntExact(SoakPlan.TTL.toMillis());
    return new Ending(
        ttlMillis + random.nextInt(2 * ttlMillis),
        () -> {
          client.resume();
          busy[place] = false;
        });
  }

  @Nullable Ending kill() {
    int place = random.nextInt(busy.length);
    if (!isIdle(place)) {
      return null;
    }
    busy[place] = true;
    synchronized (killed) {
      killed[place] = true;
    }
    clients.kill(place);
    return new Ending(
        random.nextInt(LONGEST_DEATH_MILLIS),
        () -> {
          clients.replace(place);
          busy[place] = false;
          synchronized (killed) {
            killed[place] = false;
          }
        });
  }

  @Nullable Ending spoilSet() {
    int place = random.nextInt(busy.length);
    if (!isIdle(place)) {
      return null;
    }
    busy[place] = true;
    FaultProxy link = bed.setLink(place);
    switch (random.nextInt(5)) {
      case 0 -> link.hold();
      case 1 ->
          link.delay(
              Direction.TO_SERVER, Duration.ofMillis(1 + random.nextInt(LONGEST_DELAY_MILLIS)));
      case 2 -> link.loseNextReply(request -> true);
      case 3 -> link.resetAtNextReply(request -> true);
      default -> link.resetConnections();
    }
    return new Ending(
        50 + random.nextInt(LONGEST_SPOILT_MILLIS),
        () -> {
          link.heal();
          busy[place] = false;
        });
  }

  /** A client that has not come up is left alone until it has. */
  private boolean isIdle(int place) {
    return !busy[place] && clients.at(place).isReady();
  }

  boolean[] killed() {
    synchronized (killed) {
      return killed.clone();
    }
  }
}
