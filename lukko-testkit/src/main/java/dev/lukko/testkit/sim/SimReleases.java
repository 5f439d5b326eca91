package dev.lukko.testkit.sim;

import dev.lukko.release.KeptReleases;
import dev.lukko.release.OpenEntry;
import dev.lukko.release.PendingRelease;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.ReleaseReply;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The releases of one client at one node: what a driver does for {@link KeptReleases}, which are
 * those of production.
 */
final class SimReleases {
  private static final long TICK_NANOS = 50_000_000L;

  private final World world;
  private final SimClient client;
  private final Connection connection;
  private final KeptReleases<Message<ReleaseReply>> kept;
  private final Map<PendingRelease<?>, Integer> order = new HashMap<>();
  private final Set<PendingRelease<?>> repeated = new HashSet<>();
  private int keeps;
  private boolean tickIsScheduled;

  SimReleases(World world, SimClient client, Connection connection) {
    this.world = world;
    this.client = client;
    this.connection = connection;
    this.kept = new KeptReleases<>(client);
  }

  boolean isEmpty() {
    return kept.isEmpty() && repeated.isEmpty();
  }

  /** Sends one for the first time. */
  CompletionStage<ReleaseReply> send(Message<ReleaseReply> message, @Nullable OpenEntry open) {
    return open == null ? connection.send(message) : send(message, kept.pending(message, open));
  }

  private CompletionStage<ReleaseReply> send(
      Message<ReleaseReply> message, PendingRelease<Message<ReleaseReply>> release) {
    kept.sending(release);
    return connection
        .send(message)
        .thenApply(
            reply -> {
              repeated.remove(release);
              onReply(message, release, reply);
              return reply;
            });
  }

  private void onReply(
      Message<?> message, PendingRelease<Message<ReleaseReply>> release, ReleaseReply reply) {
    Acquisition acquisition = message.acquisition;
    if (acquisition != null && !(reply instanceof NodeFault)) {
      acquisition.releaseAnswered(connection.node().number(), world.now());
    }
    boolean open =
        reply instanceof NodeFault
            ? kept.isOpenAfterFault(release, false, message.connectionEnded)
            : kept.isOpenAfterAnswer(
                release, reply instanceof ReleaseReply.Released, message.sentOn);
    if (open) {
      kept.keep(release);
      order.put(release, ++keeps);
      scheduleTick();
    }
  }

  /** Before anything else is sent on a new connection. */
  void onNewConnection() {
    sendAgain(kept.takeForNewConnection());
  }

  private void scheduleTick() {
    if (!tickIsScheduled) {
      tickIsScheduled = true;
      client.schedule(this::tick, TICK_NANOS);
    }
  }

  private void tick() {
    tickIsScheduled = false;
    sendAgain(kept.takeDue());
    if (!kept.isEmpty()) {
      scheduleTick();
    }
  }

  private void sendAgain(List<PendingRelease<Message<ReleaseReply>>> releases) {
    int last = 0;
    for (PendingRelease<Message<ReleaseReply>> release : releases) {
      int place = order.getOrDefault(release, 0);
      if (place < last) {
        world.violated(Check.REPEATED, "kept releases are sent in another order than they came");
      }
      last = place;
      if (!repeated.add(release)) {
        world.violated(Check.REPEATED, "a kept release is sent again while it is on its way");
      }
    }
    releases.forEach(release -> send(release.request().again(), release));
  }
}
