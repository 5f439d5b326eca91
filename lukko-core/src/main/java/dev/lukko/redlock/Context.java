package dev.lukko.redlock;

import dev.lukko.lease.Events;
import dev.lukko.spi.LockNode;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.DoubleSupplier;

/** What all parts of one client share. */
final class Context {
  final List<LockNode> nodes;
  final Settings settings;
  final Ticker ticker;
  final Scheduler scheduler;

  /** Where the caller's code runs; it never refuses a task. */
  final Executor callbacks;

  final Events events;
  final Proposals proposals;
  final Owners owners;
  final DoubleSupplier jitter;
  final WaitRoom waitRoom;
  final Admission admission;
  final NodeStates nodeStates;
  final OpenReleases releases;
  final RoundTrips roundTrips;

  /** The decisions that a holder waits for, which only the timers may bring. */
  final OpenReleases decisions = new OpenReleases();

  /** The rounds that are to make these decisions. */
  final Set<Round<?>> deciding = ConcurrentHashMap.newKeySet();

  final WaitGraph waitGraph = new WaitGraph();

  /** The live holds, so that closing the client can end them. */
  final Set<Hold> holds = ConcurrentHashMap.newKeySet();

  Context(
      List<LockNode> nodes,
      OpenReleases releases,
      Settings settings,
      Ticker ticker,
      Scheduler scheduler,
      Executor callbacks,
      Events events,
      Entropy entropy) {
    this.nodes = nodes;
    this.releases = releases;
    this.settings = settings;
    this.ticker = ticker;
    this.scheduler = scheduler;
    this.callbacks = callbacks;
    this.events = events;
    this.proposals = new Proposals(ticker);
    this.owners = new Owners(entropy.owners(), ticker);
    this.jitter = entropy.jitter();
    this.roundTrips = new RoundTrips(nodes.size());
    this.nodeStates = new NodeStates(events);
    this.admission =
        new Admission(
            nodes,
            settings.fleet(),
            settings.strict(),
            settings.quarantineMillis(),
            settings.returnByReading(),
            ticker,
            scheduler,
            nodeStates);
    this.waitRoom = new WaitRoom(nodes, () -> admission.electorate());
  }

  /** Notes a round until its decision, so that the client's end can bring it about. */
  void decides(Round<?> round, CompletableFuture<?> decision) {
    if (decision.isDone()) {
      return;
    }
    deciding.add(round);
    decision.whenComplete((made, failure) -> deciding.remove(round));
    decisions.add(decision);
  }

  int quorum() {
    return admission.electorate().quorum();
  }

  /** How long one node may take to answer about a lease of this ttl. */
  long nodeTimeoutNanos(long ttlNanos) {
    return settings.nodeTimeoutNanos(ttlNanos, roundTrips.ofQuorumNanos());
  }

  /** A ttl in nanoseconds, if enough of it is left after the drift; refused otherwise. */
  long checkedTtlNanos(Duration ttl) {
    long ttlNanos = Scheduler.toNanosSaturated(ttl);
    if (settings.quarantine() && ttlNanos > settings.maxTtlNanos()) {
      throw new IllegalArgumentException(
          "ttl is "
              + ttl
              + "; it must not be longer than maxTtl "
              + Duration.ofNanos(settings.maxTtlNanos())
              + ", the longest ttl in the fleet, for which a forgetful node is kept from voting");
    }
    long drift = settings.driftNanos(ttlNanos);
    if (ttlNanos - drift <= settings.minValidityNanos()) {
      throw new IllegalArgumentException(
          "ttl is "
              + ttl
              + "; it must be longer than the drift of "
              + Duration.ofNanos(drift)
              + " (ttl * driftFactor "
              + settings.driftFactor()
              + " + driftBuffer "
              + Duration.ofNanos(settings.driftBufferNanos())
              + ")"
              + (settings.minValidityNanos() == 0
                  ? ""
                  : " plus minValidity " + Duration.ofNanos(settings.minValidityNanos())));
    }
    return ttlNanos;
  }

  /** The window of a ttl that was asked for at the given times. */
  ValidityWindow window(long startNanos, long wallStartMicros, long ttlNanos) {
    return ValidityWindow.of(startNanos, wallStartMicros, ttlNanos, settings.driftNanos(ttlNanos));
  }
}
