package dev.lukko.testkit.sim;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Lets each fault of the schedule strike at its moment. */
final class Injector {
  private final World world;
  private final Map<Hook, Moments> moments = new EnumMap<>(Hook.class);
  private boolean healed;

  Injector(World world, List<Fault> faults) {
    this.world = world;
    for (Hook hook : Hook.values()) {
      moments.put(hook, new Moments());
    }
    for (Fault fault : faults) {
      if (fault.hook() == Hook.TIME) {
        world.at(fault.number() * 1_000L, null, () -> strikeUnlessHealed(fault));
      } else {
        of(fault.hook()).faults.add(fault);
      }
    }
  }

  private Moments of(Hook hook) {
    Moments known = moments.get(hook);
    if (known == null) {
      throw new AssertionError(hook);
    }
    return known;
  }

  /** No fault strikes any more. */
  void heal() {
    healed = true;
  }

  private void strikeUnlessHealed(Fault fault) {
    if (!healed) {
      SimClient client = world.clients.get(fault.client() % world.clients.size());
      strike(fault, client, null, null);
    }
  }

  /** A moment has come. */
  void moment(Hook hook, SimClient client, @Nullable Message<?> message, @Nullable Write write) {
    Moments known = of(hook);
    known.count++;
    if (known.faults.isEmpty() || healed) {
      return;
    }
    int count = known.count;
    for (Fault fault : known.faults) {
      if (fault.number() == count) {
        strike(fault, client, message, write);
      }
    }
  }

  private void strike(
      Fault fault, SimClient client, @Nullable Message<?> message, @Nullable Write write) {
    if (world.log.isTracing()) {
      world.log.line(world.now(), "FAULT " + fault + " (client " + client.number() + ")");
    }
    long nanos = fault.nanos();
    switch (fault.act()) {
      case PAUSE -> client.standStill(nanos);
      case SUSPEND -> client.suspend(nanos);
      case KILL -> client.kill();
      case CUT_REQUESTS -> cut(fault, client, true, false, false);
      case CUT_REPLIES -> cut(fault, client, false, true, false);
      case CUT_BOTH -> cut(fault, client, true, true, false);
      case HOLD_BOTH -> cut(fault, client, true, true, true);
      case DOWN -> nodes(fault).forEach(node -> node.goDown(nanos));
      case HANG -> nodes(fault).forEach(node -> node.hang(nanos));
      case FORGET -> nodes(fault).forEach(SimNode::forget);
      case MOVE -> world.move(client, nodes(fault), nanos);
      case NEIGHBOUR -> world.neighbour(nodes(fault));
      case CHANGE -> world.change(nodes(fault), nanos);
      case JUMP_NODE -> nodes(fault).forEach(node -> node.jump(nanos));
      case JUMP_WALL -> client.jumpWall(nanos);
      case HOLD_WRITE -> {
        if (write != null) {
          write.delayNanos = nanos;
        }
      }
      default -> {
        if (message != null) {
          message.strike(fault.act(), nanos);
        }
      }
    }
  }

  private void cut(Fault fault, SimClient client, boolean out, boolean back, boolean hold) {
    long until = world.now() + fault.nanos();
    for (SimLink link : client.links()) {
      if ((fault.nodes() >> link.node().number() & 1) != 0) {
        link.connection().cut(out ? until : 0, back ? until : 0, hold);
      }
    }
  }

  private List<SimNode> nodes(Fault fault) {
    List<SimNode> struck = new ArrayList<>();
    for (SimNode node : world.nodes) {
      if ((fault.nodes() >> node.number() & 1) != 0) {
        struck.add(node);
      }
    }
    return struck;
  }

  /** How often a moment has come, and the faults that wait for it. */
  private static final class Moments {
    final List<Fault> faults = new ArrayList<>(0);
    int count;
  }
}
