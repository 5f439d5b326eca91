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
 * between them, every request gets an answer at some time, and a release that could not be sent is
 * sent again.
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

  Connection(World world, SimClient client, SimNode node) {
    this.world = world;
    this.client = client;
    this.node = node;
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
    if (message.verb == Verb.RELEASE) {
      lost(message);
      return;
    }
    if (message.requestLost) {
      world.requestEnds();
    } else {
      world.at(now + world.latency() + message.requestDelayNanos, null, () -> arriveAgain(message));
    }
    answer(message, message.fault.apply("connection reset"), now + world.latency());
  }

  /** A release is kept and sent again, as long as there may be an entry; others fail in time. */
  private <R> void lost(Message<R> message) {
    Acquisition acquisition = message.acquisition;
    long now = world.now();
    if (message.verb == Verb.RELEASE && acquisition != null) {
      long again = now + world.plan.tauNanos();
      if (again - message.sentAt < 2 * world.plan.ttlNanos()) {
        world.at(again, null, () -> sendAgain(message));
        return;
      }
    }
    world.requestEnds();
    answer(
        message,
        message.fault.apply("no answer"),
        Math.max(now, message.sentAt + world.plan.driverTimeoutNanos()));
  }

  private <R> void sendAgain(Message<R> message) {
    if (client.isDead()) {
      world.requestEnds();
    } else {
      dispatch(message);
    }
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
    boolean cut = repliesCutUntil > now;
    if (message.replyLost || (cut && !holding)) {
      answer(
          message,
          message.fault.apply("no answer"),
          Math.max(now, message.sentAt + world.plan.driverTimeoutNanos()));
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
    answer(message, reply, back);
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

  private <R> void answer(Message<R> message, R reply, long time) {
    world.at(
        time,
        client,
        () -> {
          client.awaits(-1);
          note(message.verb.replied, message, codeOf(reply));
          world.injector.moment(message.verb.replied, client, null, null);
          if (!client.isDead()) {
            message.reply.complete(reply);
            Acquisition acquisition = message.acquisition;
            if (message.verb == Verb.EXTEND && acquisition != null) {
              world.ledger.look(acquisition);
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
