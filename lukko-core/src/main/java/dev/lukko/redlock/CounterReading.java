package dev.lukko.redlock;

import dev.lukko.LockException;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.time.Scheduler;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The highest counter that the voting members of a fleet know, and which runs of which servers have
 * told it. It counts only if a later look finds all of these as they were: then none of them had
 * forgotten when it answered.
 *
 * @param epoch the fleet's epoch
 * @param runs by node, its place and its run when it was asked
 * @param highest the highest of the counters
 */
record CounterReading(long epoch, Map<Integer, String> runs, long highest) {

  /** Asks the voting members of the present set; nothing if no majority of them has answered. */
  static CompletableFuture<@Nullable CounterReading> of(
      List<LockNode> nodes,
      List<Seat> seats,
      FleetRecord fleet,
      Scheduler scheduler,
      long timeoutNanos,
      BiConsumer<LockNode, Throwable> failed) {
    Map<Integer, String> runs = new LinkedHashMap<>();
    List<CompletableFuture<Long>> counters = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      LockNode node = nodes.get(i);
      String run = votingRun(seats.get(i), fleet);
      if (run != null) {
        runs.put(i, run);
        counters.add(
            node.highestCounter()
                .toCompletableFuture()
                .exceptionally(
                    failure -> {
                      failed.accept(node, failure);
                      return -1L;
                    }));
      }
    }
    Scheduler.Timer timer =
        scheduler.schedule(() -> counters.forEach(counter -> counter.complete(-1L)), timeoutNanos);
    CompletableFuture<@Nullable CounterReading> reading =
        CompletableFuture.allOf(counters.toArray(new CompletableFuture<?>[0]))
            .thenApply(done -> judged(nodes, fleet, runs, counters));
    reading.whenComplete(
        (told, failure) -> timer.cancel()); // Also if nobody waits for it any more.
    return reading;
  }

  private static @Nullable CounterReading judged(
      List<LockNode> nodes,
      FleetRecord fleet,
      Map<Integer, String> runs,
      List<CompletableFuture<Long>> counters) {
    List<Integer> asked = List.copyOf(runs.keySet());
    long highest = 0;
    int told = 0;
    for (int k = 0; k < asked.size(); k++) {
      long counter = counters.get(k).join();
      if (counter >= Plausible.FAR) {
        throw new LockException(
            "node "
                + nodes.get(asked.get(k)).name()
                + " has a counter of "
                + counter
                + ", which no clock before the year 2112 gives; numbers could not go on above it");
      }
      highest = Math.max(highest, counter);
      if (counter >= 0) {
        told++;
      } else {
        runs.remove(asked.get(k));
      }
    }
    return told < Tally.quorumOf(fleet.set().size())
        ? null
        : new CounterReading(fleet.epoch(), runs, highest);
  }

  /** Whether all that have told it are still the servers that they were, and vote. */
  boolean isStillTrue(List<Seat> seats, FleetRecord fleet) {
    return epoch == fleet.epoch()
        && runs.entrySet().stream()
            .allMatch(
                asked -> asked.getValue().equals(votingRun(seats.get(asked.getKey()), fleet)));
  }

  /** The place and the run of a member that votes; null if it is none. */
  private static @Nullable String votingRun(Seat seat, FleetRecord fleet) {
    String seen = seat.seen();
    return seen != null
            && seat.status().state() == State.VOTING
            && fleet.set().contains(seat.self())
        ? seen + " " + seat.identity().orElse("")
        : null;
  }
}
