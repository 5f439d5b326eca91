package dev.lukko.redis.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.SoleFleet;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/** Short forms of requests to a node, with bounded waits for their replies. */
public final class Requests {
  public static final Duration BOUND = Duration.ofSeconds(30);
  public static final long TTL = 60_000;

  private Requests() {}

  public static LockEntry entry(String owner, String... resources) {
    return LockEntry.exclusive(List.of(resources), owner);
  }

  public static LockEntry reader(String owner, String... resources) {
    return new LockEntry(List.of(resources), owner, true);
  }

  public static <T> T answer(CompletionStage<T> stage) {
    CompletableFuture<T> future = stage.toCompletableFuture();
    assertThat(future).succeedsWithin(BOUND);
    return future.join();
  }

  /** The node itself, once its server may vote, as a client would see to it. */
  public static <N extends LockNode> N admitted(N node) {
    admit(node);
    return node;
  }

  public static NodeStatus admit(LockNode node) {
    return SoleFleet.admit(node);
  }

  /** Asks as a client does: a server without a record is admitted, and asked again. */
  public static GrantReply grant(LockNode node, LockEntry entry, long proposal) {
    return grant(node, new GrantRequest(entry, TTL, proposal));
  }

  public static GrantReply grant(LockNode node, GrantRequest request) {
    GrantReply reply = SoleFleet.granting(node, request);
    if (reply instanceof NotVoting notVoting && notVoting.status().awaitsAdmission()) {
      SoleFleet.admit(node);
      return SoleFleet.granting(node, request);
    }
    return reply;
  }

  public static long granted(LockNode node, LockEntry entry, long proposal) {
    GrantReply reply = grant(node, entry, proposal);
    assertThat(reply).isInstanceOf(GrantReply.Granted.class);
    return ((GrantReply.Granted) reply).counter();
  }

  public static GrantReply.Refused refused(LockNode node, LockEntry entry, long proposal) {
    GrantReply reply = grant(node, entry, proposal);
    assertThat(reply).isInstanceOf(GrantReply.Refused.class);
    return (GrantReply.Refused) reply;
  }

  public static ConfirmReply confirm(LockNode node, LockEntry entry, long counter) {
    return answer(node.confirm(entry, counter));
  }

  public static ExtendReply extend(LockNode node, LockEntry entry, long ttlMillis) {
    return answer(node.extend(entry, ttlMillis));
  }

  public static ExtendReply repair(LockNode node, LockEntry entry, long ttlMillis, long counter) {
    return answer(node.repair(entry, ttlMillis, counter, Long.MAX_VALUE));
  }

  public static ReleaseReply release(LockNode node, LockEntry entry) {
    return answer(node.release(entry));
  }

  public static Inspection inspect(LockNode node, String resource) {
    return answer(node.inspect(resource));
  }

  /** Whether a packet holds a text. */
  public static Predicate<byte[]> has(String text) {
    return bytes -> new String(bytes, StandardCharsets.UTF_8).contains(text);
  }
}
