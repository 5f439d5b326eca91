package dev.lukko.spi;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One independent store that can hold lock entries and counters.
 *
 * <p><b>Rules for implementations.</b>
 *
 * <ul>
 *   <li>Each verb is one atomic step at the store, applied to all resources of the entry or to
 *       none, and costs one round trip.
 *   <li>A verb never blocks its caller, but for {@link #grantInCaller} and {@link
 *       #releaseInCaller}, and never throws; whatever goes wrong is a {@link Failed} or an {@link
 *       Unknown}. Every stage completes at some time, even if the server hangs for ever; the caller
 *       has its own, shorter timeout and goes on without the reply.
 *   <li>A request is sent once. It is never repeated by the driver, since a repetition could be
 *       applied after the release that followed it.
 *   <li>A release is applied after the grant of the same owner that was sent before it. If it
 *       cannot be sent, or its connection breaks, it is kept and sent again when the server is
 *       back, until the entry must have expired by itself.
 *   <li>Expiry is judged by the store's clock. An expired entry is as good as none.
 *   <li>Owners are compared exactly, character by character.
 *   <li>Counters survive release and expiry, and are kept for a retention time after the last
 *       grant. A counter that is not a number from 0 to {@link GrantRequest#MAX_COUNTER} makes the
 *       request {@link Failed}.
 * </ul>
 *
 * <p>Stages may complete in any thread. Implementations are thread-safe.
 */
public interface LockNode extends AutoCloseable {

  /** The node's name in messages, unique among the nodes of a client: an address, no secrets. */
  String name();

  /** What this node can do beyond the plain exclusive lock. */
  Set<Capability> capabilities();

  /**
   * Grants the entry if no other owner is in its way, and raises the counters in the same step: to
   * the proposal if they are all below it, else to one above the highest. A repeated request of an
   * owner that holds the entry gets the stored answer and raises nothing.
   *
   * <p>Readers may have one number together. With each counter a node keeps whether its number was
   * last given to a reader. If that is so of every counter that is the highest of the entry's, a
   * shared entry gets this number as it is; otherwise it raises the counters as an exclusive one
   * does, and they are marked. A grant to an exclusive entry, a confirmation for one, and a repair
   * that raises a counter unmark it. That a reader's entry stands is no substitute for the mark: a
   * late repair can put back the entry of a reader that has ended.
   */
  CompletionStage<GrantReply> grant(GrantRequest request);

  /**
   * Agrees to a number for an owner that still holds the entry, and raises the counters to it.
   *
   * <p>For an exclusive entry: if no counter is above the number. While it holds, only its own
   * requests can have raised them, so a counter that is there already agrees again.
   *
   * <p>For a shared entry: if the number is not below the one that its grant got here, which stays
   * as it is. The counters are raised to at least the number, and those that are raised are marked
   * as given to a reader.
   *
   * <p>A number is settled in the epoch of the fleet in which it was granted: as an extension, a
   * confirmation that was sent with another record than the node's is answered with {@link
   * NotVoting} and changes nothing.
   */
  CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter);

  /**
   * Lets the entry live for {@code ttlMillis} from now on, if the owner holds all its resources.
   * Never creates an entry.
   */
  CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis);

  /**
   * Extends as {@link #extend} does, and creates what is missing; raises every counter to at least
   * {@code counter}. Changes nothing if another owner is in the way, or once the store's clock has
   * passed {@code lastMillis}: a repair that was stuck on its way must not put back what its owner
   * has released meanwhile. As an extension, one that was sent with another record than the node's
   * is answered with {@link NotVoting} and changes nothing.
   *
   * @param lastMillis the last moment at which it may be done, by the clock that {@link
   *     ExtendReply.Missing#atMillis} tells
   */
  CompletionStage<ExtendReply> repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis);

  /** Deletes whatever the owner holds of the resources; touches nobody else's entry. */
  CompletionStage<ReleaseReply> release(LockEntry entry);

  /**
   * Grants as {@link #grant} does, for a caller that has nothing else to do than to wait for this
   * one reply. The node may run the request in the calling thread and block it, for {@code
   * patienceNanos} at the most, or go on elsewhere and give a stage that is not complete yet. All
   * other rules hold: an entry is sent by this verb or by the other one, never by both, and the
   * release of the same owner comes behind it. By default nothing is run in the caller.
   *
   * @param patienceNanos how long the caller may be blocked, in nanoseconds; zero or less means not
   *     at all
   */
  default CompletionStage<GrantReply> grantInCaller(GrantRequest request, long patienceNanos) {
    return grant(request);
  }

  /**
   * Releases as {@link #release} does, for a caller that waits as that of {@link #grantInCaller}
   * does. By default nothing is run in the caller.
   *
   * @param patienceNanos how long the caller may be blocked, in nanoseconds; zero or less means not
   *     at all
   */
  default CompletionStage<ReleaseReply> releaseInCaller(LockEntry entry, long patienceNanos) {
    return release(entry);
  }

  /**
   * Gives up a place in the line of fair waiters. Nothing happens if there is none. By default
   * there is no line.
   */
  default void leave(LockEntry entry, FairTicket ticket) {}

  /**
   * Whether the node may vote. Never fails: a node that cannot be reached says so.
   *
   * <p>A store that can forget what it granted (a restart without durable writes, a flush, an
   * eviction) keeps a {@link FleetRecord} for each fleet that it serves, beside its entries: who
   * belongs to the fleet, which run of the server the record was made for, and from when on, by the
   * server's clock, it may vote. It refuses every grant with {@link NotVoting} unless the record is
   * the one that the request's client has {@linkplain LockEntry#seen seen}, and names a time that
   * has come; an extension that was sent with another record is answered in the same way. So a loss
   * of memory, another server behind the address and a change of the fleet are all noticed by the
   * very request that meets them. A store that cannot forget needs no records, but an identity:
   * without this method it is known by its name only, which counts and is warned of, and is refused
   * by a strict client.
   */
  default CompletionStage<NodeStatus> status() {
    return CompletableFuture.completedFuture(NodeStatus.unidentified(name()));
  }

  /**
   * Changes the records of a server, in one step, unless they are no longer those that were seen:
   * another client has been faster. Gives the status afterwards.
   *
   * @param seen the status on which the change was decided
   */
  default CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
    return status();
  }

  /**
   * A number that is not below any counter which the node had when it was asked. Asked of nodes
   * when the set of a fleet changes, so that numbers go on above it; may take long where there are
   * many counters. By default it fails, and the node's fleet cannot change its set.
   */
  default CompletionStage<Long> highestCounter() {
    return CompletableFuture.failedFuture(
        new UnsupportedOperationException("node " + name() + " does not tell its highest counter"));
  }

  /** What the node has stored for a resource; fails exceptionally if the node cannot be reached. */
  CompletionStage<Inspection> inspect(String resource);

  /**
   * Calls {@code hint} whenever an entry of the resource may have been released. A hint may be
   * lost, late, repeated or wrong; it may run in any thread and does not block. By default there
   * are no hints.
   */
  default Watch watch(String resource, Runnable hint) {
    return () -> {};
  }

  /**
   * Ends the node's threads and the connections that it made; bounded, idempotent, never throws.
   */
  @Override
  void close();

  /** A registration for hints that can be ended. */
  interface Watch extends AutoCloseable {
    /** Ends the hints; idempotent. */
    @Override
    void close();
  }
}
