package dev.lukko.testkit.sim;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The way between a client and a node: slow, and it loses things, holds them back and breaks.
 *
 * <p>It keeps the rules of a node's driver: messages keep their order unless a connection broke
 * between them, every request gets an answer at some time, and a request without a reply ends its
 * connection. The next one begins with the releases that are kept.
 */
final class Connection {
  private final World world;
  private final SimClient client;
  private SimNode node;
  private long lastArrival;
  private long lastReply;
  private long requestsCutUntil;
  private long repliesCutUntil;
  private boolean holding;
  private Wire present = new Wire();
  private final SimReleases releases;

  Connection(World world, SimClient client, SimNode node) {
    this.world = world;
    this.client = client;
    this.node = node;
    this.releases = new SimReleases(world, client, this);
  }

  /** One connection: once it is broken, nothing more goes through it, in neither direction. */
  static final class Wire {
    private boolean broken;
  }

  SimNode node() {
    return node;
  }

  SimReleases releases() {
    return releases;
  }

  void cut(long requestsUntil, long repliesUntil, boolean hold) {
    requestsCutUntil = Math.max(requestsCutUntil, requestsUntil);
    repliesCutUntil = Math.max(repliesCutUntil, repliesUntil);
    holding = hold;
  }

  /** What is under way arrives there, too. */
  void leadTo(SimNode other) {
    node = other;
  }

  void heal() {
    requestsCutUntil = 0;
    repliesCutUntil = 0;
  }

  boolean bringsReplies() {
    return repliesCutUntil <= world.now();
  }

  /** Sends a request; its reply comes later, if at all. */
  <R> CompletionStage<R> send(Message<R> message) {
    if (client.isDead()) {
      return message.reply;
    }
    note(message.verb.sent, message, 0);
    world.injector.moment(message.verb.sent, client, message, null);
    message.sentAt = world.now();
    message.sentOn = present;
    if (!client.isDead()) {
      world.requestBegins();
      client.awaits(1);
      dispatch(message);
    }
    return message.reply;
  }

  private <R> void dispatch(Message<R> message) {
    long now = world.now();
    if (message.reset) {
      message.reset = false;
      breaks(message);
      return;
    }
    if (message.sentOn.broken) { // The client has not heard of it yet.
      world.requestEnds();
      fail(message, "connection reset", now + world.latency());
      return;
    }
    boolean cut = requestsCutUntil > now;
    if (message.requestLost || (cut && !holding)) {
      message.requestLost = false;
      lost(message);
      return;
    }
    long arrival = (cut ? requestsCutUntil : now) + world.latency() + message.requestDelayNanos;
    if (!message.overtaken) {
      arrival = Math.max(arrival, lastArrival);
      lastArrival = arrival;
    }
    world.at(arrival, null, () -> arrive(message));
  }

  /** The client hears that its connection broke; its request may arrive all the same. */
  private <R> void breaks(Message<R> message) {
    long now = world.now();
    message.sentOn.broken = true;
    if (message.requestLost) {
      world.requestEnds();
    } else {
      world.at(now + world.latency() + message.requestDelayNanos, null, () -> arriveLate(message));
    }
    fail(message, "connection reset", now + world.latency());
  }

  private <R> void lost(Message<R> message) {
    world.requestEnds();
    failInTime(message);
  }

  private <R> void failInTime(Message<R> message) {
    long timeout = message.sentAt + world.plan.driverTimeoutNanos();
    fail(message, "no answer", Math.max(world.now(), timeout));
  }

  private <R> void arrive(Message<R> message) {
    long now = world.now();
    if (node.hungUntil() > now) {
      world.at(node.hungUntil(), null, () -> arrive(message));
      return;
    }
    if (node.downUntil() > now) {
      lost(message);
      return;
    }
    world.requestEnds();
    R reply = message.call.apply(node);
    note(message.verb.applied, message, codeOf(reply));
    world.injector.moment(message.verb.applied, client, null, null);
    if (message.repeatAfterNanos >= 0) {
      long after = message.repeatAfterNanos;
      message.repeatAfterNanos = -1;
      world.requestBegins();
      world.at(now + after, null, () -> arriveAgain(message));
    }
    if (message.sentOn.broken) {
      fail(message, "connection reset", now + world.latency());
      return;
    }
    boolean cut = repliesCutUntil > now;
    if (message.replyLost || (cut && !holding)) {
      failInTime(message);
      return;
    }
    long back = (cut ? repliesCutUntil : now) + world.latency() + message.replyDelayNanos;
    back = Math.max(back, lastReply);
    if (message.replyDelayNanos == 0) {
      lastReply = back;
    }
    if (back - message.sentAt > world.plan.driverTimeoutNanos()) {
      reply = message.fault.apply("a late answer");
    }
    R answer = reply;
    answer(message, answer, back, message::answered);
  }

  /** What was under way on a connection that broke: once, at any time, behind newer requests. */
  private <R> void arriveLate(Message<R> message) {
    long now = world.now();
    if (node.hungUntil() > now) {
      world.at(node.hungUntil(), null, () -> arriveLate(message));
      return;
    }
    world.requestEnds();
    Acquisition acquisition = message.acquisition;
    if (node.downUntil() <= now) {
      if (acquisition != null && message.verb == Verb.GRANT) {
        // A grant has no last moment, and a release is not repeated for ever.
        acquisition.repeated |= acquisition.isReleaseOver(node.number(), now);
      }
      R reply = message.call.apply(node);
      note(message.verb.applied, message, codeOf(reply));
    }
  }

  private <R> void arriveAgain(Message<R> message) {
    world.requestEnds();
    Acquisition acquisition = message.acquisition;
    // No driver repeats a request; where ttls differ, a repeated extension would be harmful.
    boolean harmful =
        acquisition != null
            && acquisition.mixed
            && (message.verb == Verb.EXTEND || message.verb == Verb.REPAIR);
    if (node.downUntil() <= world.now() && !harmful) {
      if (acquisition != null) {
        acquisition.repeated = true;
      }
      R reply = message.call.apply(node);
      note(message.verb.applied, message, codeOf(reply));
    }
  }

  /** The client hears that there is no reply, and connects anew. */
  private <R> void fail(Message<R> message, String why, long time) {
    message.connectionEnded = true;
    answer(message, message.fault.apply(why), time, () -> {});
  }

  private <R> void answer(Message<R> message, R reply, long time, Runnable before) {
    world.at(
        time,
        client,
        () -> {
          client.awaits(-1);
          note(message.verb.replied, message, codeOf(reply));
          world.injector.moment(message.verb.replied, client, null, null);
          if (!client.isDead()) {
            before.run();
            message.reply.complete(reply);
            Acquisition acquisition = message.acquisition;
            if (message.verb == Verb.EXTEND && acquisition != null) {
              world.ledger.look(acquisition);
            }
            if (message.connectionEnded && message.sentOn == present) {
              present = new Wire();
              releases.onNewConnection();
            }
          }
        });
  }

  private void note(Hook hook, Message<?> message, long value) {
    int number = message.acquisition == null ? 0 : message.acquisition.number;
    world.log.add(world.now(), hook, client.number(), node.number(), number, value);
  }

  private static long codeOf(@Nullable Object reply) {
    if (reply instanceof GrantReply.Granted granted) {
      return granted.counter();
    }
    if (reply instanceof GrantReply.Refused
        || reply instanceof ConfirmReply.NotHeld
        || reply instanceof ExtendReply.Missing
        || reply instanceof ReleaseReply.NotHeld) {
      return 1;
    }
    if (reply instanceof ConfirmReply.Higher higher) {
      return -higher.counter();
    }
    return reply instanceof Unknown ? 2 : reply instanceof Failed ? 3 : 4;
  }
}
