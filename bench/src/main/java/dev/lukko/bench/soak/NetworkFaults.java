package dev.lukko.bench.soak;

import dev.lukko.bench.soak.Faults.Ending;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Faults between clients and servers. Not thread-safe. */
final class NetworkFaults {
  private static final int LONGEST_MILLIS = 2_000;
  private static final int LONGEST_DELAY_MILLIS = 300;

  private final Bed bed;
  private final Random random;
  private final int clients;
  private final Set<FaultProxy> busy = new HashSet<>();

  NetworkFaults(Bed bed, Random random, int clients) {
    this.bed = bed;
    this.random = random;
    this.clients = clients;
  }

  /** A fault between a server and one client, or all of them. */
  @Nullable Ending make(FaultKind kind) {
    int server = random.nextInt(SoakPlan.NODES);
    boolean all = random.nextInt(3) == 0;
    int chosen = random.nextInt(clients);
    List<FaultProxy> links = new ArrayList<>();
    for (int client = 0; client < clients; client++) {
      if ((all || client == chosen) && busy.add(bed.link(client, server))) {
        links.add(bed.link(client, server));
      }
    }
    if (links.isEmpty()) {
      return null;
    }
    int delayMillis = 1 + random.nextInt(LONGEST_DELAY_MILLIS);
    links.forEach(link -> spoil(link, kind, Duration.ofMillis(delayMillis)));
    return new Ending(
        50 + random.nextInt(LONGEST_MILLIS),
        () -> {
          links.forEach(FaultProxy::heal);
          links.forEach(busy::remove);
        });
  }

  private static void spoil(FaultProxy link, FaultKind kind, Duration delay) {
    switch (kind) {
      case NETWORK_HELD -> link.hold();
      case NETWORK_REQUESTS_HELD -> link.hold(Direction.TO_SERVER);
      case NETWORK_REPLIES_HELD -> link.hold(Direction.TO_CLIENT);
      case NETWORK_SLOW -> {
        link.delay(Direction.TO_SERVER, delay);
        link.delay(Direction.TO_CLIENT, delay);
      }
      case NETWORK_CUT -> link.cut();
      case REPLY_LOST -> link.loseNextReply(request -> true);
      case RESET_AT_REPLY -> link.resetAtNextReply(request -> true);
      case RESET_AT_REQUEST -> link.resetAtNextRequest(request -> true);
      default -> throw new IllegalArgumentException(kind + " is no fault of the network");
    }
  }
}
