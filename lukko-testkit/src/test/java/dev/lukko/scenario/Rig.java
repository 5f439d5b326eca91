package dev.lukko.scenario;

import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockInvariants;
import dev.lukko.testkit.ManualTime;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Stores in memory, manual time, and any number of clients that see the stores through faults. */
final class Rig implements AfterEachCallback, AutoCloseable {
  static final String R = "r";

  final LockInvariants invariants = new LockInvariants();
  final ManualTime time = invariants.time(new ManualTime());
  final List<InMemoryNode> stores = new ArrayList<>();
  private final List<LockEntry> foreign = new ArrayList<>();
  private final boolean plain;
  private Party main;

  private Rig(int nodes, boolean plain) {
    this.plain = plain;
    for (int i = 1; i <= nodes; i++) {
      stores.add(new InMemoryNode("n" + i, time));
    }
  }

  static Rig of(int nodes) {
    return new Rig(nodes, false);
  }

  /** Nodes that can do no more than an exclusive lock: no hints, so that waiters poll. */
  static Rig plain(int nodes) {
    return new Rig(nodes, true);
  }

  /** One client with the ways to its nodes. */
  record Party(Redlock client, List<FaultyNode> nodes) {
    void fault(Fault fault) {
      nodes.forEach(node -> node.fault(fault));
    }

    void heal() {
      nodes.forEach(FaultyNode::heal);
    }

    int requests() {
      return nodes.stream().mapToInt(FaultyNode::requests).sum();
    }
  }

  Party party(Consumer<RedlockBuilder> settings) {
    List<FaultyNode> nodes = new ArrayList<>();
    stores.forEach(store -> nodes.add(invariants.node(plain ? new PlainNode(store) : store)));
    RedlockBuilder builder = Redlock.builder().nodes(nodes).ticker(time).scheduler(time);
    settings.accept(builder);
    return new Party(invariants.client(builder.build()), List.copyOf(nodes));
  }

  /** Another client that reaches its nodes through those of a party, with switches of its own. */
  Party behind(Party party) {
    List<FaultyNode> nodes = party.nodes().stream().map(FaultyNode::new).toList();
    RedlockBuilder builder = Redlock.builder().nodes(nodes).ticker(time).scheduler(time);
    return new Party(invariants.client(builder.build()), nodes);
  }

  Party party() {
    return party(builder -> {});
  }

  /** The first client, which most scenarios are about. */
  Party main() {
    if (main == null) {
      main = party();
    }
    return main;
  }

  void main(Consumer<RedlockBuilder> settings) {
    main = party(settings);
  }

  Redlock client() {
    return main().client();
  }

  FaultyNode node(int number) {
    return main().nodes().get(number - 1);
  }

  InMemoryNode store(int number) {
    return stores.get(number - 1);
  }

  /** Stores an entry of somebody else's, which stays until {@link #releaseForeign}. */
  LockEntry holdForeign(int number, Duration ttl) {
    LockEntry entry = LockEntry.exclusive(List.of(R), "foreign " + foreign.size());
    GrantReply reply =
        SoleFleet.admittedGrant(store(number), new GrantRequest(entry, ttl.toMillis(), 1))
            .toCompletableFuture()
            .join();
    if (!(reply instanceof GrantReply.Granted)) {
      throw new AssertionError(reply);
    }
    foreign.add(entry);
    return entry;
  }

  void releaseForeign() {
    stores.forEach(store -> foreign.forEach(store::release));
    foreign.clear();
  }

  /** The numbers of the stores that hold an entry. */
  List<Integer> held() {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 1; i <= stores.size(); i++) {
      if (store(i).isHeld(R)) {
        numbers.add(i);
      }
    }
    return numbers;
  }

  /** The fingerprints of those who hold the resource at a store. */
  List<String> ownersAt(int number) {
    return store(number).inspect(R).toCompletableFuture().join().ownerFingerprints();
  }

  long counterAt(int number) {
    return store(number).inspect(R).toCompletableFuture().join().counter().orElse(0);
  }

  static LockRequest request(Duration ttl) {
    return LockRequest.of(R, ttl);
  }

  static LockRequest request(Duration ttl, Duration maxWait) {
    return LockRequest.builder(R).ttl(ttl).maxWait(maxWait).build();
  }

  static Duration ms(long millis) {
    return Duration.ofMillis(millis);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    close();
  }

  @Override
  public void close() {
    releaseForeign();
    invariants.verify();
  }
}
