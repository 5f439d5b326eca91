package dev.lukko;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A source of leases: the lock, seen from the code that needs one.
 *
 * <pre>{@code
 * try (Lease lease = locks.acquire("invoices", Duration.ofSeconds(30))) {
 *   ledger.post(invoice, lease.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>Verbs.</b> {@code acquire} waits, then gives a lease or throws. {@code tryAcquire} returns
 * empty when somebody else holds the lock; it still throws when no decision was possible (no quorum
 * of nodes answered), since "busy" and "broken" call for different actions. {@code using} runs a
 * body under the lock, extends the lease in the background, and releases it at the end.
 *
 * <p><b>Arguments</b> are checked before any I/O. A ttl is at least 1 ms, is rounded down to whole
 * milliseconds, and must be longer than the drift that the client subtracts from it. A resource
 * name has 1 to {@value LockRequest#MAX_NAME_LENGTH} characters and no control characters. A
 * violation is an {@link IllegalArgumentException} that names the field, the value and the rule.
 *
 * <p><b>Interrupts.</b> A blocking call that is interrupted while it waits gives up, releases what
 * it may have been granted (also when that grant's reply arrives later), keeps the thread's
 * interrupt flag, and throws {@link LockInterruptedException}.
 *
 * <p><b>Thread safety and memory effects.</b> Clients and leases are thread-safe, and a lease
 * belongs to nobody but its holder object: any thread may extend or release it. Inside one JVM,
 * actions before a release happen-before actions after a later grant of the same resource, as with
 * a monitor. Between JVMs nothing but the protected resource itself can order writes: give it the
 * {@linkplain Lease#fencingToken() fencing token} and let it refuse older ones.
 */
public interface LockClient extends AutoCloseable {

  /**
   * Acquires the lock, waiting by the client's retry policy.
   *
   * @param resource the name to lock
   * @param ttl how long the nodes keep the lock if nobody extends or releases it
   * @return a lease that is valid on return
   * @throws LockBusyException if the lock was held by another until the policy gave up
   * @throws QuorumUnavailableException if no quorum of nodes could be reached
   * @throws ValidityExhaustedException if the nodes took longer to answer than the ttl allows
   * @throws LockInterruptedException if this thread was interrupted while it waited
   * @throws ClientClosedException if this client is closed, before or during the call
   */
  default Lease acquire(String resource, Duration ttl) {
    return acquire(LockRequest.of(resource, ttl));
  }

  /**
   * Acquires what the request names; the request's own wait, when it has one, replaces the client's
   * retry policy.
   *
   * @throws LockNotAcquiredException as {@link #acquire(String, Duration)} does
   */
  Lease acquire(LockRequest request);

  /**
   * Makes exactly one round and returns at once with its outcome, bounded by the node timeout.
   *
   * @return the lease, or empty if the lock is held by another
   * @throws QuorumUnavailableException if no quorum of nodes could be reached
   * @throws ValidityExhaustedException if the nodes took longer to answer than the ttl allows
   */
  default Optional<Lease> tryAcquire(String resource, Duration ttl) {
    return tryAcquire(resource, ttl, Duration.ZERO);
  }

  /**
   * Waits for the lock no longer than a budget. The call ends at most one node timeout after the
   * budget; if it is the first to meet nodes that nobody has admitted yet, at most one second
   * later.
   *
   * @param maxWait the budget; zero makes exactly one round, {@link LockRequest#FOREVER} waits
   *     without end, negative is refused
   * @return the lease, or empty if the lock was held by another all the time
   * @throws QuorumUnavailableException as soon as no quorum of nodes can be reached
   * @throws ValidityExhaustedException if the nodes took longer to answer than the ttl allows
   * @throws LockInterruptedException if this thread was interrupted while it waited
   */
  default Optional<Lease> tryAcquire(String resource, Duration ttl, Duration maxWait) {
    return tryAcquire(LockRequest.builder(resource).ttl(ttl).maxWait(maxWait).build());
  }

  /**
   * The same for a request. Without a wait of its own the request makes exactly one round.
   *
   * @return the lease, or empty if the lock was held by another all the time
   */
  default Optional<Lease> tryAcquire(LockRequest request) {
    try {
      return Optional.of(acquire(request.withDefaultWait(Duration.ZERO)));
    } catch (LockBusyException busy) {
      return Optional.empty();
    }
  }

  /**
   * Acquires without blocking a thread. The future fails with the exceptions of {@link
   * #acquire(LockRequest)}. Cancelling it ends the attempt: whatever was granted, also by a reply
   * that arrives later, is released again. Dependent stages run in a callback thread of the client,
   * or in the thread that adds them to a future that has ended, and may block. So it is with each
   * future of the client and its leases.
   */
  CompletableFuture<Lease> acquireAsync(LockRequest request);

  /** The same for one resource, waiting by the client's retry policy. */
  default CompletableFuture<Lease> acquireAsync(String resource, Duration ttl) {
    return acquireAsync(LockRequest.of(resource, ttl));
  }

  /**
   * Runs a body in this thread under the lock.
   *
   * @return what the body returned
   * @throws LeaseLostException if the lease was lost while the body ran; when the body returned a
   *     value, {@link LeaseLostException#value()} has it
   * @throws X what the body threw, unchanged; a loss or a failed release is attached to it as
   *     suppressed
   */
  default <T extends @Nullable Object, X extends Throwable> T using(
      String resource, Duration ttl, LeaseFunction<T, X> body) throws X {
    return using(LockRequest.of(resource, ttl), body);
  }

  /**
   * Runs a body in this thread under the lock that the request names. The lease is extended in the
   * background unless the request says otherwise.
   */
  default <T extends @Nullable Object, X extends Throwable> T using(
      LockRequest request, LeaseFunction<T, X> body) throws X {
    return Using.call(this, request, body);
  }

  /** {@link #using(String, Duration, LeaseFunction)} for a body without a result. */
  default <X extends Throwable> void run(String resource, Duration ttl, LeaseAction<X> body)
      throws X {
    run(LockRequest.of(resource, ttl), body);
  }

  /** {@link #using(LockRequest, LeaseFunction)} for a body without a result. */
  default <X extends Throwable> void run(LockRequest request, LeaseAction<X> body) throws X {
    Using.call(this, request, Using.withoutResult(body));
  }

  /**
   * Runs a body in this thread under the lock if nobody else holds it; makes exactly one round.
   *
   * @return whether the body ran; false if the lock is held by another
   * @throws QuorumUnavailableException if no quorum of nodes could be reached
   * @throws ValidityExhaustedException if the nodes took longer to answer than the ttl allows
   * @throws LeaseLostException if the lease was lost while the body ran
   * @throws X what the body threw, unchanged
   */
  default <X extends Throwable> boolean tryRun(String resource, Duration ttl, LeaseAction<X> body)
      throws X {
    return tryRun(LockRequest.of(resource, ttl), body);
  }

  /**
   * The same for a request: waits no longer than its wait budget, and without one makes exactly one
   * round. The lease is extended in the background unless the request says otherwise.
   */
  default <X extends Throwable> boolean tryRun(LockRequest request, LeaseAction<X> body) throws X {
    return Using.tryCall(this, request, body);
  }

  /**
   * Runs an asynchronous body under the lock; the lease is held until the stage that the body gave
   * has ended. No thread waits. The body runs in a callback thread of the client, or in this one if
   * the lock is free and the nodes answer at once; one that blocks there delays no other lease.
   *
   * @return a future that ends as the body's stage does, or with {@link LeaseLostException}.
   *     Cancelling it before the grant ends the attempt; afterwards the lease is kept until the
   *     body's stage ends, since the work may still run
   */
  default <T extends @Nullable Object> CompletableFuture<T> usingAsync(
      LockRequest request, Function<? super Lease, ? extends CompletionStage<T>> body) {
    return Using.callAsync(this, request, body);
  }

  /** The same for one resource, waiting by the client's retry policy. */
  default <T extends @Nullable Object> CompletableFuture<T> usingAsync(
      String resource, Duration ttl, Function<? super Lease, ? extends CompletionStage<T>> body) {
    return usingAsync(LockRequest.of(resource, ttl), body);
  }

  /**
   * The resource as a {@code java.util.concurrent} lock: re-entrant by thread, extended in the
   * background while it is locked.
   *
   * @param ttl as in {@link #acquire(String, Duration)}
   */
  default LeaseLock asLock(String resource, Duration ttl) {
    return new LeaseLock(this, LockRequest.autoExtended(resource, ttl));
  }

  /**
   * The resource as a read-write lock.
   *
   * @param ttl as in {@link #acquire(String, Duration)}
   * @throws IllegalArgumentException on first use of the read lock, if a node has no shared entries
   */
  default LeaseReadWriteLock asReadWriteLock(String resource, Duration ttl) {
    LockRequest.Builder request = LockRequest.builder(resource).ttl(ttl).autoExtend(true);
    LockRequest exclusive = request.build();
    return new LeaseReadWriteLock(this, request.shared(true).build(), exclusive);
  }

  /**
   * A semaphore of leased permits.
   *
   * @param permits how many holders there may be at a time, 1 to {@value
   *     LeasedSemaphore#MAX_PERMITS}; the same for all users of the name
   * @param ttl how long a permit outlives a holder that died, as in {@link #acquire(String,
   *     Duration)}
   */
  default LeasedSemaphore asSemaphore(String name, int permits, Duration ttl) {
    return new LeasedSemaphore(this, name, permits, ttl);
  }

  /**
   * Who holds a lock now, as every node answers: asks, changes nothing, and gives what has come in
   * when all have answered or the node timeout is over. Nodes that could not be asked are in the
   * report; it never fails because of them.
   *
   * @param resource the name to look at
   * @throws IllegalArgumentException if it can be no name
   * @throws ClientClosedException if this client is closed
   */
  LockReport inspect(String resource);

  /**
   * Whether the nodes are well: asks all, changes nothing, bounded by the node timeout.
   *
   * @throws ClientClosedException if this client is closed
   */
  ClientHealth health();

  /**
   * Ends the client: waiting calls fail with {@link ClientClosedException}, live leases are lost
   * with {@link LossReason#CLIENT_CLOSED} and then released (or let go, if the client was built
   * so), timers and threads end. The release of a lease waits for its callbacks, no longer than the
   * lease was valid, so that another holder does not overlap with what they stop. Apart from that
   * bounded by the node timeout; an interrupt does not shorten it, and its flag is kept.
   * Idempotent; never throws.
   */
  @Override
  void close();
}
