package dev.lukko.testkit.sim;

import dev.lukko.Lease;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is really so about one owner value: who asked, what the nodes keep, what was granted. */
final class Acquisition {
  static final long NEVER = Long.MAX_VALUE;

  final int number;
  final String owner;
  final List<String> resources;
  final boolean shared;
  final SimClient client;
  final long ttlNanos;

  /** When its round began, in true time: at the first request to a node. */
  final long beganAt;

  private final long[] keptUntil;
  private final long[] releaseAnsweredAt;
  private final double worstRate;
  int grantsSent;
  int releasesSent;
  int deletions;
  boolean repeated;

  /** Whether it was extended by another ttl than it was granted for. */
  boolean mixed;

  // What the holder was given, and believes.
  @Nullable Lease lease;
  long token;
  long grantedAt = NEVER;
  long claimedEnd;
  long releasedAt = NEVER;
  long lostAt = NEVER;
  boolean endSeen;
  int losses;

  Acquisition(
      int number,
      String owner,
      List<String> resources,
      boolean shared,
      SimClient client,
      long ttlNanos,
      long beganAt) {
    this.number = number;
    this.owner = owner;
    this.resources = resources;
    this.shared = shared;
    this.client = client;
    this.ttlNanos = ttlNanos;
    this.beganAt = beganAt;
    this.keptUntil = new long[client.links().size()];
    this.releaseAnsweredAt = new long[client.links().size()];
    Arrays.fill(releaseAnsweredAt, NEVER);
    this.worstRate = 1 / (1 + Plan.CLOCK_BOUND);
  }

  /** A node keeps the entry for a ttl from now on, by a clock that keeps its bound. */
  void keeps(int node, long now, long ttl) {
    keptUntil[node] = now + (long) (ttl * worstRate);
  }

  /** A node has answered a release, for the first time or again. */
  void releaseAnswered(int node, long now) {
    releaseAnsweredAt[node] = Math.min(releaseAnsweredAt[node], now);
  }

  /** Whether its release is not repeated any more, since a ttl has passed after the answer. */
  boolean isReleaseOver(int node, long now) {
    return now - (ttlNanos - ttlNanos / 50) > releaseAnsweredAt[node];
  }

  /** Until when a quorum of one of these sets keeps the entry: nobody may claim more. */
  long backedUntil(List<Set<Integer>> sets) {
    return sets.stream().mapToLong(set -> backedUntil(set)).max().orElse(0);
  }

  private long backedUntil(Set<Integer> set) {
    long[] sorted = set.stream().mapToLong(node -> keptUntil[node]).toArray();
    int quorum = sorted.length / 2 + 1;
    Arrays.sort(sorted);
    return sorted[sorted.length - quorum];
  }

  /** When it ended for its holder, as far as is known. */
  long endedAt() {
    return Math.min(claimedEnd, Math.min(releasedAt, lostAt));
  }

  /** Whether it was granted, and is not given back or known to be lost. */
  boolean isLive() {
    return grantedAt != NEVER && releasedAt == NEVER && lostAt == NEVER;
  }

  /** Whether its validity is over: its holder has asked, or was told. */
  boolean isOver() {
    return endSeen || losses > 0;
  }
}
