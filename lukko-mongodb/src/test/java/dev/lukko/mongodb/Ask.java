package dev.lukko.mongodb;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.SoleFleet;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Requests to a node in short, in the test kit's fleet, with bounded waits for their replies. */
final class Ask {
  static final long TTL = 60_000;

  private Ask() {}

  static LockEntry exclusive(String owner, String... resources) {
    return LockEntry.exclusive(List.of(resources), owner);
  }

  static LockEntry shared(String owner, String... resources) {
    return new LockEntry(List.of(resources), owner, true);
  }

  static <T> T now(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(40, TimeUnit.SECONDS);
    } catch (Exception failure) {
      throw new AssertionError("no reply", failure);
    }
  }

  static GrantReply grant(LockNode node, LockEntry entry, long proposal) {
    return now(SoleFleet.grant(node, new GrantRequest(entry, TTL, proposal)));
  }

  static ConfirmReply confirm(LockNode node, LockEntry entry, long number) {
    return now(node.confirm(SoleFleet.seen(node, entry), number));
  }

  static ExtendReply extend(LockNode node, LockEntry entry) {
    return now(node.extend(SoleFleet.seen(node, entry), TTL));
  }

  static ExtendReply repair(LockNode node, LockEntry entry, long counter) {
    return now(node.repair(SoleFleet.seen(node, entry), TTL, counter, Long.MAX_VALUE));
  }

  static ReleaseReply release(LockNode node, LockEntry entry) {
    return now(node.release(entry));
  }
}
