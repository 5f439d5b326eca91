package dev.lukko.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.SoleFleet;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;

/** Requests to a node in short, with bounded waits for their replies. */
final class Ask {
  /** A ttl that does not end within a test. */
  static final long LONG_MILLIS = 600_000;

  /** A ttl that a test waits out. */
  static final long BRIEF_MILLIS = 30;

  private Ask() {}

  /** A text that no other test has. */
  static String fresh(String start) {
    return start + "-" + Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, 36);
  }

  static LockEntry exclusive(String owner, String... resources) {
    return LockEntry.exclusive(List.of(resources), owner);
  }

  static LockEntry shared(String owner, String... resources) {
    return new LockEntry(List.of(resources), owner, true);
  }

  static <T> T answer(CompletionStage<T> stage) {
    return SoleFleet.answer(stage);
  }

  static GrantReply grant(LockNode node, LockEntry entry, long ttlMillis, long proposal) {
    return SoleFleet.granting(node, new GrantRequest(entry, ttlMillis, proposal));
  }

  static GrantReply grant(LockNode node, LockEntry entry, long proposal) {
    return grant(node, entry, LONG_MILLIS, proposal);
  }

  /** Grants for long, and gives the number. */
  static long granted(LockNode node, LockEntry entry, long proposal) {
    GrantReply reply = grant(node, entry, proposal);
    assertThat(reply).isInstanceOf(GrantReply.Granted.class);
    return ((GrantReply.Granted) reply).counter();
  }

  static GrantReply.Refused refused(LockNode node, LockEntry entry, long proposal) {
    GrantReply reply = grant(node, entry, proposal);
    assertThat(reply).isInstanceOf(GrantReply.Refused.class);
    return (GrantReply.Refused) reply;
  }

  static ConfirmReply confirm(LockNode node, LockEntry entry, long counter) {
    return answer(node.confirm(entry, counter));
  }

  static ExtendReply extend(LockNode node, LockEntry entry) {
    return answer(node.extend(SoleFleet.seen(node, entry), LONG_MILLIS));
  }

  static ExtendReply repair(LockNode node, LockEntry entry, long counter) {
    return repair(node, entry, counter, Long.MAX_VALUE);
  }

  static ExtendReply repair(LockNode node, LockEntry entry, long counter, long lastMillis) {
    return answer(node.repair(entry, LONG_MILLIS, counter, lastMillis));
  }

  static ReleaseReply release(LockNode node, LockEntry entry) {
    return answer(node.release(entry));
  }

  static void released(LockNode node, LockEntry entry) {
    assertThat(release(node, entry)).isInstanceOf(ReleaseReply.Released.class);
  }

  static Inspection inspect(LockNode node, String resource) {
    return answer(node.inspect(resource));
  }

  /** The stored counter, zero if there is none. */
  static long counter(LockNode node, String resource) {
    return inspect(node, resource).counter().orElse(0);
  }

  /** Whether the owner holds all resources of the entry; changes nothing. */
  static boolean holds(LockNode node, LockEntry entry) {
    ConfirmReply reply = confirm(node, entry, 1); // No grant has a lower number.
    return reply instanceof ConfirmReply.Higher || reply instanceof ConfirmReply.Confirmed;
  }

  /** Lets a node vote that waits for a decision about it, as a client does at its start. */
  static NodeStatus admit(LockNode node) {
    return SoleFleet.admit(node);
  }
}
