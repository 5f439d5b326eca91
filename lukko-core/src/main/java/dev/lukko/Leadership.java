package dev.lukko;

import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A standing candidacy for one name: at most one candidate leads at a time, and when a leader is
 * gone another follows.
 *
 * <pre>{@code
 * try (Leadership leadership =
 *     Leadership.of(locks, "billing", Duration.ofSeconds(10))
 *         .onElected(term -> billing.start(term.fencingToken()))
 *         .onLost(reason -> billing.stop())
 *         .start()) { ... }
 * }</pre>
 *
 * <p>A term is a lease that is extended in the background. The leader steps down at its local
 * deadline, though every node hangs; {@code onLost} is called then, exactly once for each term, and
 * the candidacy goes on. Writes of a leader carry the term's {@linkplain Lease#fencingToken()
 * token}, so that the resource refuses a former leader which has not noticed yet.
 *
 * <p>Callbacks run in threads of this object. {@code onLost} does not wait for an {@code onElected}
 * that is still running; what they throw is logged, and the term goes on. Thread-safe.
 */
public final class Leadership implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Leadership.class.getName());
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

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
  public static Candidacy of(LockClient client, String name, Duration ttl) {
    return new Candidacy(client, name, ttl);
  }

  /** Whether this candidate leads now; local, never waits. */
  public boolean isLeader() {
    return term().isPresent();
  }

  /** The lease of the present term, if this candidate leads now. */
  public synchronized Optional<Lease> term() {
    return Optional.ofNullable(present).map(term -> term.lease).filter(Lease::isValid);
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
    LOG.log(
        System.Logger.Level.WARNING,
        () -> "the campaign for " + request.resources() + " failed and is tried again",
        failure);
    if (!(Using.unwrap(failure) instanceof ClientClosedException)) {
      scheduler.schedule(this::campaignSafely, PAUSE_AFTER_FAILURE.toNanos());
    }
  }

  private void campaignSafely() {
    try {
      campaign();
    } catch (ClientClosedException ended) {
      LOG.log(System.Logger.Level.INFO, "the candidacy has ended: {0}", ended.getMessage());
    }
  }

  private void begin(Lease lease) {
    Term term = new Term(lease);
    synchronized (this) {
      if (closed) {
        lease.releaseAsync();
        return;
      }
      present = term;
    }
    scheduler.execute(() -> onElected.accept(lease));
    lease
        .lost()
        .whenComplete(
            (reason, none) -> {
              end(term, reason);
              campaignSafely();
            });
  }

  /** Ends a term and says so, once. */
  private void end(Term term, LossReason reason) {
    synchronized (this) {
      if (term.ended) {
        return;
      }
      term.ended = true;
      if (present == term) {
        present = null;
      }
    }
    scheduler.execute(() -> onLost.accept(reason));
  }

  /**
   * Withdraws: a running campaign ends, and a leader steps down, its lease is released and {@code
   * onLost} is called with {@link LossReason#RELEASED}. Bounded by the node timeout; idempotent.
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
    if (ending != null) {
      boolean led = ending.lease.isValid();
      ending.lease.release();
      end(ending, led ? LossReason.RELEASED : LossReason.EXPIRED);
    }
    scheduler.close();
  }

  private static final class Term {
    final Lease lease;
    boolean ended;

    Term(Lease lease) {
      this.lease = lease;
    }
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

    /** Sets what to do when this candidate begins to lead. */
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
