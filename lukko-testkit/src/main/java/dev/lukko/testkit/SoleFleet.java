package dev.lukko.testkit;

import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A fleet beside those of clients, for tests that ask a node without one: it does what a client
 * does before its requests, and remembers what it has seen of each node.
 *
 * <p>Thread-safe. Every wait is bounded by 40 seconds.
 */
public final class SoleFleet {
  private static final String NAME = "sole";

  /** No client has so many nodes, so none takes it for its own. */
  private static final int SIZE = 1_000;

  private static final String KEY = FleetRecord.key(NAME, SIZE);
  private static final long BOUND_SECONDS = 40;
  private static final Map<LockNode, String> SEEN =
      Collections.synchronizedMap(new WeakHashMap<>());

  private SoleFleet() {}

  /** Lets a node vote from now on, if it awaits a decision. */
  public static NodeStatus admit(LockNode node) {
    NodeStatus status = status(node);
    return status.awaitsAdmission() ? admit(node, status, 0) : status;
  }

  /**
   * Lets a node vote.
   *
   * @param seen the status on which that is decided
   * @param quarantineMillis how long it must not vote yet
   */
  public static NodeStatus admit(LockNode node, NodeStatus seen, long quarantineMillis) {
    FleetMemory memory = seen.memory();
    if (memory == null) {
      return answer(node.admit(seen, change(memoryOf(seen), seen, quarantineMillis))).in(KEY);
    }
    return remembered(node, answer(node.admit(seen, change(memory, seen, quarantineMillis))));
  }

  private static FleetMemory memoryOf(NodeStatus seen) {
    return new FleetMemory(FleetRecord.idOf(seen.identity().orElse("")), new TreeMap<>(), 0, "");
  }

  private static FleetChange change(FleetMemory memory, NodeStatus seen, long quarantineMillis) {
    FleetRecord record =
        memory
            .record(KEY)
            .map(kept -> kept.of(kept.self(), memory.run(), 0, FleetRecord.RESTARTED))
            .orElseGet(
                () ->
                    new FleetRecord(
                        NAME,
                        SIZE,
                        0,
                        List.of(memory.run()),
                        memory.run(),
                        memory.run(),
                        0,
                        FleetRecord.UNMARKED));
    boolean known = seen.state() == NodeStatus.State.VOTING;
    return FleetChange.of(record, known ? FleetChange.AS_WRITTEN : quarantineMillis);
  }

  /** Begins the next epoch of this fleet at the node, in which numbers lie above a floor. */
  public static void raise(LockNode node, long floor) {
    NodeStatus seen = answer(node.status());
    FleetMemory memory = seen.memory();
    if (memory == null) {
      throw new IllegalArgumentException("node " + node.name() + " keeps no records");
    }
    FleetRecord record = memory.record(KEY).orElseThrow();
    FleetChange change =
        FleetChange.of(
            record.in(record.epoch() + 1, record.set(), null, floor), FleetChange.AS_WRITTEN);
    remembered(node, answer(node.admit(seen, change)));
  }

  /** What the node tells of itself in this fleet. */
  public static NodeStatus status(LockNode node) {
    return remembered(node, answer(node.status()));
  }

  private static NodeStatus remembered(LockNode node, NodeStatus status) {
    FleetMemory memory = status.memory();
    if (status.identity().isPresent()) {
      SEEN.put(
          node,
          memory == null
              ? status.identity().get()
              : memory.record(KEY).map(FleetRecord::seen).orElse("nothing"));
    }
    return status.in(KEY);
  }

  /** The entry as it is sent to a node of which was seen what was seen of this one last. */
  public static LockEntry seen(LockNode node, LockEntry entry) {
    String seen = SEEN.get(node);
    if (seen == null) {
      status(node);
      seen = SEEN.getOrDefault(node, "");
    }
    return entry.seen(seen);
  }

  /** Asks once, with what was seen of the node last. */
  public static CompletionStage<GrantReply> grant(LockNode node, GrantRequest request) {
    return node.grant(
        new GrantRequest(
            seen(node, request.entry()),
            request.ttlMillis(),
            request.proposal(),
            request.ticket()));
  }

  /** Asks once a node that is admitted before if it awaits that. */
  public static CompletionStage<GrantReply> admittedGrant(LockNode node, GrantRequest request) {
    admit(node);
    return grant(node, request);
  }

  /** Asks, and once more if the node has told that it must be looked at anew. */
  public static GrantReply granting(LockNode node, GrantRequest request) {
    GrantReply reply = answer(grant(node, request));
    if (reply instanceof NotVoting) {
      NodeStatus status = status(node);
      return status.state() == NodeStatus.State.VOTING ? answer(grant(node, request)) : reply;
    }
    return reply;
  }

  /** What a verb answers, which it must within the bound and without failing. */
  public static <T> T answer(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(BOUND_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError("a verb must answer with a reply, not fail", e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("no answer within " + BOUND_SECONDS + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }
}
