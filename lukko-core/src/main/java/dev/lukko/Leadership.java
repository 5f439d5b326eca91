package dev.lukko;

import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A standing candidacy for one name: at most one candidate leads at a time, and when a leader is
 * gone another follows.
 *
 * <pre>{@code
 * try (Leadership leadership =
 *     Leadership.builder(locks, "billing", Duration.ofSeconds(10))
 *         .onElected(term -> billing.start(term.fencingToken()))
 *         .onLost(reason -> billing.stop())
 *         .start()) { ... }
 * }</pre>
 *
 * <p>A term is a lease that is extended in the background. The leader steps down at its local
 * deadline, though every node hangs; then the candidacy goes on. Writes of a leader carry the
 * term's {@linkplain Lease#fencingToken() token}, so that the resource refuses a former leader
 * which has not noticed yet.
 *
 * <p>Each term is reported once by {@code onElected}, then once by {@code onLost}, however it ends:
 * with the reason of the loss, or with {@link LossReason#RELEASED} if this candidate closes the
 * leadership, releases the term's lease, or throws in {@code onElected}. The next campaign begins
 * when {@code onLost} has returned; after an {@code onElected} that threw, one second later. So a
 * candidate whose {@code onLost} hangs does not lead again.
 *
 * <p>{@code onElected} should return soon, and have its work done elsewhere: {@code onLost} waits
 * for it, but no longer than a tenth of a second when the lease is lost, since the work must stop
 * then. When this object ends a term, it waits for both, and no longer than the lease is valid,
 * before it releases the lease: the next leader does not overlap with what {@code onLost} still has
 * to do. Callbacks run in threads of this object or of the client, and may block. Thread-safe.
 */
public final class Leadership implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Leadership.class.getName());
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

  /** How long the report of a loss waits for an {@code onElected} that is still running. */
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final LockClient client;
  private final LockRequest request;
  private final Consumer<? super Lease> onElected;
  private final Consumer<? super LossReason> onLost;
  private final Scheduler scheduler = Scheduler.create("lukko-leadership");
  private @Nullable CompletableFuture<Lease> campaign;
  private @Nullable Term present;
  private boolean closed;

  private Leadership(Candidacy candidacy) {
    this.client = candidacy.client;
    this.request = candidacy.request;
    this.onElected = candidacy.onElected;
    this.onLost = candidacy.onLost;
  }

  /**
   * A candidacy that has not begun.
   *
   * @param ttl how long a leader that died keeps others out, as in {@link
   *     LockClient#acquire(String, Duration)}
   */
  public static Candidacy builder(LockClient client, String name, Duration ttl) {
    return new Candidacy(client, name, ttl);
  }

  /** Whether this candidate leads now; local, never waits. */
  public boolean isLeader() {
    return term().isPresent();
  }

  /** The lease of the present term, if this candidate leads now. */
  public synchronized Optional<Lease> term() {
    return Optional.<Lease>ofNullable(present).filter(Lease::isValid);
  }

  private synchronized void campaign() {
    if (closed) {
      return;
    }
    CompletableFuture<Lease> running = client.acquireAsync(request);
    campaign = running;
    running.whenComplete(
        (lease, failure) -> {
          if (failure != null) {
            onFailure(failure);
          } else {
            begin(lease);
          }
        });
  }

  private void onFailure(Throwable failure) {
    synchronized (this) {
      if (closed) {
        return;
      }
    }
    if (Using.unwrap(failure) instanceof ClientClosedException) {
      LOG.log(System.Logger.Level.INFO, "the candidacy has ended: {0}", failure.getMessage());
      return;
    }
    LOG.log(
        System.Logger.Level.WARNING,
        () -> "the campaign for " + request.resources() + " failed and is tried again",
        failure);
    campaignLater();
  }

  private void campaignLater() {
    scheduler.schedule(
        () -> scheduler.callbacks().execute(this::campaignAgain), PAUSE_AFTER_FAILURE.toNanos());
  }

  private void campaignAgain() {
    try {
      campaign();
    } catch (RuntimeException | Error failure) {
      onFailure(failure);
    }
  }

  private void begin(Lease lease) {
    Term term = new Term(lease, onElected, this::onReleased);
    synchronized (this) {
      if (closed) {
        lease.releaseAsync();
        return;
      }
      present = term;
    }
    scheduler.callbacks().execute(() -> elect(term));
    // In the client's callback thread: its end waits for that before it gives the lease back.
    lease.onLost(
        reason -> {
          if (end(term, reason, PATIENCE_NANOS)) {
            campaignAgain();
          }
        });
  }

  private void elect(Term term) {
    boolean failed = term.begin();
    if (failed && end(term, LossReason.RELEASED, 0)) {
      term.lease().releaseAsync();
      campaignLater();
    }
  }

  /** The leader has released its lease. */
  private void onReleased(Term term) {
    LossReason reason = term.reason();
    scheduler
        .callbacks()
        .execute(
            () -> {
              if (end(term, reason, PATIENCE_NANOS)) {
                campaignAgain();
              }
            });
  }

  /** Ends a term and reports it; false if that is done already. */
  private boolean end(Term term, LossReason reason, long patienceNanos) {
    if (!term.mayEnd()) {
      return false;
    }
    synchronized (this) {
      if (present == term) {
        present = null;
      }
    }
    term.end(onLost, reason, patienceNanos);
    return true;
  }

  /**
   * Withdraws: a running campaign ends, and a leader steps down: {@code onLost} is called with
   * {@link LossReason#RELEASED}, and when it has returned, the lease is released. Bounded by the
   * validity of the lease and the node timeout; an interrupt does not shorten it, and its flag is
   * kept. From a callback of the leader's it returns at once, and the lease is released when the
   * callback has returned. Idempotent.
   */
  @Override
  public void close() {
    Term ending;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      ending = present;
      if (campaign != null) {
        campaign.cancel(false);
      }
    }
    if (ending == null) {
      scheduler.close();
      return;
    }
    CompletableFuture<Void> done = stepDown(ending);
    if (!ending.isInCallback()) {
      done.join();
    }
  }

  /** Reports the end of the term, then releases its lease. */
  private CompletableFuture<Void> stepDown(Term term) {
    long leftNanos = Scheduler.toNanosSaturated(term.remaining());
    LossReason reason = term.reason();
    CompletableFuture<Void> over = new CompletableFuture<>();
    CompletableFuture<Void> done = new CompletableFuture<>();
    Scheduler.Timer bound = scheduler.schedule(() -> over.complete(null), leftNanos);
    scheduler.callbacks().execute(() -> end(term, reason, leftNanos));
    term.over().whenComplete((ended, none) -> over.complete(null));
    over.thenRun(
        () -> {
          bound.cancel();
          term.lease()
              .releaseAsync()
              .whenComplete(
                  (outcome, failure) -> {
                    scheduler.close();
                    done.complete(null);
                  });
        });
    return done;
  }

  /** What a candidacy consists of. Not thread-safe. */
  public static final class Candidacy {
    private final LockClient client;
    private final LockRequest request;
    private Consumer<? super Lease> onElected = lease -> {};
    private Consumer<? super LossReason> onLost = reason -> {};

    private Candidacy(LockClient client, String name, Duration ttl) {
      this.client = Objects.requireNonNull(client, "client");
      this.request =
          LockRequest.builder(name)
              .ttl(ttl)
              .autoExtend(true)
              .maxWait(LockRequest.FOREVER)
              .waitForQuorum(true)
              .metadata("leader")
              .build();
    }

    /** Sets what to do when this candidate begins to lead; if it throws, the term ends. */
    public Candidacy onElected(Consumer<? super Lease> callback) {
      this.onElected = Objects.requireNonNull(callback, "onElected");
      return this;
    }

    /** Sets what to do when this candidate has ceased to lead. */
    public Candidacy onLost(Consumer<? super LossReason> callback) {
      this.onLost = Objects.requireNonNull(callback, "onLost");
      return this;
    }

    /** Begins. */
    public Leadership start() {
      Leadership leadership = new Leadership(this);
      leadership.campaign();
      return leadership;
    }
  }
}
