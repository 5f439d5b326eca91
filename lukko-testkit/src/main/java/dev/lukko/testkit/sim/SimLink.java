package dev.lukko.testkit.sim;

import dev.lukko.release.OpenEntries;
import dev.lukko.release.OpenEntry;
import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A node as one client sees it: each verb is a message over a {@link Connection}. */
final class SimLink implements LockNode {
  private final World world;
  private final SimClient client;
  private final SimNode home;
  private SimNode node;
  private final Connection connection;
  private final OpenEntries entries;
  private boolean connecting = true;
  private boolean unreachable;
  private int openWatches;

  SimLink(World world, SimClient client, SimNode node) {
    this.world = world;
    this.client = client;
    this.home = node;
    this.node = node;
    this.connection = new Connection(world, client, node);
    this.entries = new OpenEntries(client);
  }

  /** The node that the client means. */
  SimNode node() {
    return home;
  }

  /** From now on the address leads to another node. */
  void leadTo(SimNode other) {
    node = other;
    connection.leadTo(other);
  }

  /** While the client is built it waits for its nodes in its thread: they answer at once. */
  void unreachableAtFirst() {
    unreachable = true;
  }

  void connected() {
    connecting = false;
  }

  /** The way to the node. */
  Connection connection() {
    return connection;
  }

  int openWatches() {
    return openWatches;
  }

  private Acquisition of(LockEntry entry, Verb verb) {
    return world.ledger.asked(client, home, entry, verb);
  }

  // ---- the verbs

  @Override
  public String name() {
    return home.name();
  }

  @Override
  public Set<Capability> capabilities() {
    return world.plan.watched()
        ? EnumSet.allOf(Capability.class)
        : EnumSet.of(Capability.SHARED, Capability.FAIR);
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    Acquisition acquisition = world.ledger.begins(client, home, request);
    Message<GrantReply> message =
        new Message<>(Verb.GRANT, acquisition, at -> at.grant(request, acquisition), Unknown::new);
    OpenEntry open = entries.granting(request.entry(), message, request.ttlMillis());
    return connection
        .send(message)
        .thenApply(
            reply -> {
              entries.granted(open, reply, request.ttlMillis());
              return reply;
            });
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    Acquisition acquisition = of(entry, Verb.CONFIRM);
    return connection.send(
        new Message<>(Verb.CONFIRM, acquisition, at -> at.confirm(entry, counter), Unknown::new));
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    Acquisition acquisition = of(entry, Verb.EXTEND);
    acquisition.mixed |= ttlMillis * 1_000_000L != acquisition.ttlNanos;
    world.ledger.look(acquisition); // A shorter ttl counts from here on.
    return connection
        .send(
            new Message<>(
                Verb.EXTEND,
                acquisition,
                at -> at.extend(entry, ttlMillis, acquisition),
                Unknown::new))
        .thenApply(
            reply -> {
              if (!(reply instanceof Unknown)) {
                entries.extended(entry, reply, ttlMillis);
              }
              return reply;
            });
  }

  @Override
  public CompletionStage<ExtendReply> repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis) {
    Acquisition acquisition = of(entry, Verb.REPAIR);
    Message<ExtendReply> message =
        new Message<>(
            Verb.REPAIR,
            acquisition,
            at -> at.repair(entry, ttlMillis, counter, lastMillis, acquisition),
            Unknown::new);
    OpenEntry open = entries.repairing(entry, message, ttlMillis);
    return connection
        .send(message)
        .thenApply(
            reply -> {
              if (!(reply instanceof Unknown)) {
                entries.repaired(open, ttlMillis);
              }
              return reply;
            });
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    Acquisition acquisition = of(entry, Verb.RELEASE);
    return connection
        .releases()
        .send(
            new Message<>(
                Verb.RELEASE, acquisition, at -> at.release(entry, acquisition), Unknown::new),
            entries.releasing(entry));
  }

  @Override
  public void leave(LockEntry entry, FairTicket ticket) {
    connection.send(
        new Message<Boolean>(
            Verb.OTHER,
            null,
            at -> {
              at.leave(entry, ticket);
              return true;
            },
            detail -> false));
  }

  @Override
  public CompletionStage<NodeStatus> status() {
    Function<String, NodeStatus> silent = NodeStatus::unreachable;
    Message<NodeStatus> message = new Message<>(Verb.OTHER, null, SimNode::status, silent);
    if (connecting) {
      message.reply.complete(unreachable ? silent.apply("not yet") : node.status());
      return message.reply;
    }
    return connection.send(message);
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
    Function<String, NodeStatus> silent = NodeStatus::unreachable;
    Message<NodeStatus> message =
        new Message<>(Verb.OTHER, null, at -> at.admit(seen, change), silent);
    if (connecting) {
      message.reply.complete(node.admit(seen, change));
      return message.reply;
    }
    return connection.send(message);
  }

  @Override
  public CompletionStage<Long> highestCounter() {
    return connection.send(new Message<>(Verb.OTHER, null, SimNode::highestCounter, lost -> -1L));
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    throw new UnsupportedOperationException("no engine inspects");
  }

  @Override
  public Watch watch(String resource, Runnable hint) {
    Subscription subscription = new Subscription(hint);
    openWatches++;
    connection.send(
        new Message<Boolean>(
            Verb.OTHER,
            null,
            at -> {
              subscription.begin(at.watch(resource, () -> relay(subscription)));
              return true;
            },
            detail -> false));
    return () -> {
      if (subscription.end()) {
        openWatches--;
      }
    };
  }

  private void relay(Subscription subscription) {
    if (connection.bringsReplies()) {
      world.at(world.now() + world.latency(), client, subscription::hint);
    }
  }

  @Override
  public void close() {}

  /** One watch of one line. */
  private static final class Subscription {
    private final Runnable hint;
    private @Nullable Watch watch;
    private boolean ended;

    Subscription(Runnable hint) {
      this.hint = hint;
    }

    void begin(Watch begun) {
      if (ended) {
        begun.close();
      } else {
        watch = begun;
      }
    }

    void hint() {
      if (!ended) {
        hint.run();
      }
    }

    boolean end() {
      boolean first = !ended;
      ended = true;
      if (watch != null) {
        watch.close();
        watch = null;
      }
      return first;
    }
  }
}
