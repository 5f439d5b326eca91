package dev.lukko.testkit.sim;

import dev.lukko.fencing.InMemoryFence;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.time.Ticker;
import java.util.HashMap;
import java.util.Map;

/** The protected resources: each write goes through a fence, and what it accepts is checked. */
final class Resource {
  private final World world;
  private final InMemoryFence fence;
  private final Map<String, Long> highest = new HashMap<>(4);
  private final Map<Accepted, Acquisition> byToken = new HashMap<>();

  Resource(World world) {
    this.world = world;
    this.fence =
        InMemoryFence.builder()
            .ticker(
                new Ticker() {
                  @Override
                  public long nanoTime() {
                    return world.now();
                  }

                  @Override
                  public long wallMicros() {
                    return world.now() / 1_000;
                  }
                })
            .build();
  }

  /** A holder sends a write, which may take its time. */
  void send(Acquisition writer) {
    Write write = new Write();
    world.injector.moment(Hook.WRITE_SENT, writer.client, null, write);
    if (!writer.client.isDead()) {
      world.at(world.now() + world.latency() + write.delayNanos, null, () -> arrive(writer));
    }
  }

  private void arrive(Acquisition writer) {
    for (String resource : writer.resources) {
      String key = resource;
      try {
        fence.check(key, writer.token);
      } catch (StaleTokenException stale) {
        checkRefusal(writer);
        return;
      }
      world.log.add(
          world.now(), Hook.WRITE_SENT, writer.client.number(), -1, writer.number, writer.token);
      Long before = highest.put(key, writer.token);
      if (before != null && before > writer.token) {
        world.violated(Check.F3, "accepted " + writer.token + " after " + before);
      }
      Acquisition other = byToken.put(new Accepted(key, writer.token), writer);
      if (other != null && other != writer && !(other.shared && writer.shared)) {
        world.violated(
            Check.F3,
            "accepted " + writer.token + " of acquisitions " + other.number + ", " + writer.number);
      }
    }
  }

  /** The write of a holder that is alone is not refused. */
  private void checkRefusal(Acquisition writer) {
    if (world.ordersTokens()
        && world.plan.excludes()
        && !writer.shared
        && world.now() < writer.endedAt()) {
      world.violated(Check.M, "a write of acquisition " + writer.number + " was refused");
    }
  }

  private record Accepted(String resource, long token) {}
}
