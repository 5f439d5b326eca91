package dev.lukko.testkit.sim;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One history: a phase with faults, then one without, then the end, each with its checks. */
final class History {
  private static final long MILLI = 1_000_000L;

  private final Plan plan;
  private final World world;
  private final Resource resource;
  private final List<Contender> contenders = new ArrayList<>();

  private History(Plan plan, boolean tracing) {
    this.plan = plan;
    this.world = new World(plan, tracing);
    this.resource = new Resource(world);
  }

  static Outcome run(Plan plan, boolean tracing) {
    return new History(plan, tracing).run();
  }

  private Outcome run() {
    setUp();
    runFaults();
    heal();
    int grants = world.ledger.grants();
    probe();
    checkEntries(false);
    long hash = world.log.hash();
    closeClients();
    checkEntries(true);
    if (plan.excludes()) {
      world.ledger.checkExclusion();
    }
    return new Outcome(world.violation(), hash, grants, world.now(), world.log.lines());
  }

  private boolean goesOn() {
    return world.violation() == null;
  }

  private void setUp() {
    for (int i = 0; i < plan.nodeSkews().size(); i++) {
      SimClock clock = new SimClock(world, plan.nodeSkews().get(i), i * 1_000_003L, 0);
      SimNode node = new SimNode(world, i, clock);
      world.nodes.add(node);
      if (!plan.leftoverMicros().isEmpty()) {
        leaveBehind(node, clock.wallMicros() + plan.leftoverMicros().get(i));
      }
    }
    for (int i = 0; i < plan.clientSkews().size() - 1; i++) {
      addClient(i);
    }
    for (int i = 0; i < plan.contenders().size(); i++) {
      int number = i;
      List<Op> ops = plan.ops().stream().filter(op -> op.contender() == number).toList();
      SimClient client = world.clients.get(plan.contenders().get(i));
      contenders.add(new Contender(world, client, resource, ops));
    }
    contenders.forEach(Contender::begin);
  }

  private void leaveBehind(SimNode node, long counter) {
    plan.ops().stream()
        .flatMap(op -> op.resources().stream())
        .distinct()
        .forEach(name -> node.begin(name, counter));
  }

  private SimClient addClient(int number) {
    SimClock clock =
        new SimClock(
            world,
            plan.clientSkews().get(number),
            number * 7_000_001L,
            plan.wallOffsetsMicros().get(number));
    SimClient client = new SimClient(world, number, clock);
    world.clients.add(client);
    client.start();
    return client;
  }

  private void runFaults() {
    long limit = 100 * plan.ttlNanos() + 1_000 * MILLI;
    while (goesOn() && !contenders.stream().allMatch(Contender::isDone)) {
      if (world.now() > limit) {
        world.violated(
            Check.BOUND,
            contenders.stream().anyMatch(Contender::isCalling)
                ? "a call has not ended"
                : "a contender has not ended");
        return;
      }
      world.runUntil(world.now() + plan.ttlNanos() / 2);
    }
  }

  private void heal() {
    world.injector.heal();
    world.nodes.forEach(SimNode::heal);
    world.heal();
    world.clients.forEach(SimClient::heal);
    drain();
  }

  /** Lets all messages arrive, and a little more. */
  private void drain() {
    long limit = world.now() + 20 * plan.ttlNanos() + plan.driverTimeoutNanos();
    while (goesOn() && world.isBusy() && world.now() < limit) {
      world.runUntil(world.now() + plan.tauNanos());
    }
    if (goesOn() && world.isBusy()) {
      world.violated(Check.NOTHING_LEFT, "messages without end");
    }
    world.runUntil(world.now() + 2 * plan.tauNanos());
  }

  // ---- liveness

  private void probe() {
    if (!goesOn()) {
      return;
    }
    long bound = livenessBound();
    SimClient client;
    try {
      client = addClient(plan.clientSkews().size() - 1);
    } catch (LockException refused) {
      world.violated(Check.LIVENESS, "a new client is refused: " + refused.getMessage());
      return;
    }
    List<String> resources =
        plan.ops().stream().flatMap(op -> op.resources().stream()).distinct().sorted().toList();
    List<Lease> leases = new ArrayList<>();
    for (String name : resources) {
      LockRequest request =
          LockRequest.builder(name)
              .ttl(Duration.ofNanos(plan.ttlNanos()))
              .maxWait(Duration.ofNanos(2 * bound))
              .waitForQuorum(true)
              .build();
      world.at(
          world.now(),
          client,
          () ->
              client
                  .locks()
                  .acquireAsync(request)
                  .thenAccept(
                      lease -> {
                        resource.send(world.ledger.granted(lease, client));
                        leases.add(lease);
                      }));
    }
    long end = world.now() + bound;
    while (goesOn() && leases.size() < resources.size() && world.now() < end) {
      world.runUntil(Math.min(end, world.now() + plan.tauNanos()));
    }
    boolean granted = leases.size() == resources.size();
    if (goesOn() && !granted && !(world.hasMoved() && world.hasTooFewMembers())) {
      world.violated(
          Check.LIVENESS,
          String.format("not granted within %.3f ms after healing", bound / 1e6)
              + "; records: "
              + world.nodes.stream().map(SimNode::records).toList());
      return;
    }
    if ((plan.seed() & 1) == 0) { // Else the client's end has to do it.
      leases.forEach(lease -> world.at(world.now(), client, () -> release(lease)));
    }
    drain();
  }

  private void release(Lease lease) {
    world.ledger.releases(world.ledger.of(lease));
    lease.releaseAsync();
  }

  /** A ttl, the drift and 100 ms; longer only where nodes have good reason not to vote yet. */
  private long livenessBound() {
    long drift = plan.ttlNanos() / 100 + 2 * MILLI;
    long bound = plan.ttlNanos() + drift + 100 * MILLI;
    long back = world.nodes.stream().mapToLong(SimNode::jumpedBackNanos).max().orElse(0);
    long voting = world.nodes.stream().filter(SimNode::isVoting).count();
    long quarantine = 0;
    if (voting < world.quorum() || world.hasMoved() || world.sets().size() > 1) {
      for (SimNode node : world.nodes) {
        long left = node.awaitsAdmission() ? plan.maxTtlNanos() : node.quarantineLeftNanos();
        quarantine = Math.max(quarantine, left + left / 100 + 2 * plan.retryDelayNanos());
      }
    }
    return bound + back + back / 100 + quarantine;
  }

  // ---- nothing is left

  private void checkEntries(boolean closed) {
    if (!goesOn() || plan.weather() == Weather.LYING || world.hasMoved()) {
      return; // A node whose clock went back, or that could not be reached, keeps what it has.
    }
    for (SimNode node : world.nodes) {
      for (Acquisition left : node.holders()) {
        boolean held = left.grantedAt != Acquisition.NEVER && left.releasedAt == Acquisition.NEVER;
        boolean excused =
            left.client.isDead() || left.repeated || (held && (!closed || left.isOver()));
        if (!excused) {
          world.violated(
              Check.NOTHING_LEFT,
              "node " + node.number() + " has an entry of acquisition " + left.number);
        }
      }
    }
  }

  private void closeClients() {
    if (!goesOn()) {
      return;
    }
    for (SimClient client : world.clients) {
      if (!client.isDead()) {
        world.at(world.now(), client, () -> client.locks().close());
      }
    }
    world.runUntil(world.now() + 1);
    drain();
    world.runUntil(world.now() + 1_000 * MILLI);
    for (SimClient client : world.clients) {
      if (goesOn() && !client.isDead()) {
        int watches = client.links().stream().mapToInt(SimLink::openWatches).sum();
        if (client.pending() != 0 || watches != 0) {
          world.violated(
              Check.NOTHING_LEFT,
              "client "
                  + client.number()
                  + " has "
                  + client.pending()
                  + " timers and "
                  + watches
                  + " watches");
        }
      }
    }
  }
}
