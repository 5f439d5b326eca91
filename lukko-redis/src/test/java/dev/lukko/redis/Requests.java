package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/** Short forms of requests to a node, with bounded waits for their replies. */
final class Requests {
  static final Duration BOUND = Duration.ofSeconds(30);
  static final long TTL = 60_000;

  private Requests() {}

  static LockEntry entry(String owner, String... resources) {
    return LockEntry.exclusive(List.of(resources), owner);
  }

  static LockEntry reader(String owner, String... resources) {
    return new LockEntry(List.of(resources), owner, true);
  }

  static <T> T answer(CompletionStage<T> stage) {
    CompletableFuture<T> future = stage.toCompletableFuture();
    assertThat(future).succeedsWithin(BOUND);
    return future.join();
  }

  /** Connects to a new server, and lets it vote as a client would. */
  static RedisNode connect(String url) {
    RedisNode node = RedisNode.connect(url);
    admit(node);
    return node;
  }

  static NodeStatus admit(RedisNode node) {
    return answer(node.admit(answer(node.status()), 0));
  }

  /** Asks as a client does: a server without a marker is admitted, and asked again. */
  static GrantReply grant(RedisNode node, LockEntry entry, long proposal) {
    return grant(node, new GrantRequest(entry, TTL, proposal));
  }

  static GrantReply grant(RedisNode node, GrantRequest request) {
    GrantReply reply = answer(node.grant(request));
    if (reply instanceof NotVoting notVoting && notVoting.status().awaitsAdmission()) {
      answer(node.admit(notVoting.status(), 0));
      return answer(node.grant(request));
    }
    return reply;
  }

  static long granted(RedisNode node, LockEntry entry, long proposal) {
    GrantReply reply = grant(node, entry, proposal);
    assertThat(reply).isInstanceOf(GrantReply.Granted.class);
    return ((GrantReply.Granted) reply).counter();
  }

  static GrantReply.Refused refused(RedisNode node, LockEntry entry, long proposal) {
    GrantReply reply = grant(node, entry, proposal);
    assertThat(reply).isInstanceOf(GrantReply.Refused.class);
    return (GrantReply.Refused) reply;
  }

  static ConfirmReply confirm(RedisNode node, LockEntry entry, long counter) {
    return answer(node.confirm(entry, counter));
  }

  static ExtendReply extend(RedisNode node, LockEntry entry, long ttlMillis) {
    return answer(node.extend(entry, ttlMillis));
  }

  static ExtendReply repair(RedisNode node, LockEntry entry, long ttlMillis, long counter) {
    return answer(node.repair(entry, ttlMillis, counter));
  }

  static ReleaseReply release(RedisNode node, LockEntry entry) {
    return answer(node.release(entry));
  }

  static Inspection inspect(RedisNode node, String resource) {
    return answer(node.inspect(resource));
  }

  /** Whether a packet holds a text. */
  static Predicate<byte[]> has(String text) {
    return bytes -> new String(bytes, StandardCharsets.UTF_8).contains(text);
  }
}
