package dev.lukko;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What to lock and how: an immutable value that can be kept and used any number of times.
 *
 * <pre>{@code
 * LockRequest.builder("account:7", "account:9").ttl(Duration.ofSeconds(30)).maxWait(Duration.ofSeconds(5)).build()
 * }</pre>
 */
public final class LockRequest {

  /** The longest resource name, in UTF-16 code units. */
  public static final int MAX_NAME_LENGTH = 255;

  /** How many resources one lease may have. */
  public static final int MAX_RESOURCES = 64;

  /** The longest metadata text, in UTF-16 code units. */
  public static final int MAX_METADATA_LENGTH = 100;

  /** The explicit value for a wait without end. */
  public static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999L);

  private final List<String> resources;
  private final Duration ttl;
  private final @Nullable Duration maxWait;
  private final boolean waitForQuorum;
  private final @Nullable Boolean autoExtend;
  private final @Nullable Duration maxHold;
  private final String metadata;
  private final boolean shared;
  private final boolean fair;
  private final boolean interruptOnLoss;

  private LockRequest(Builder builder, Duration ttl) {
    this.resources = builder.resources;
    this.ttl = ttl;
    this.maxWait = builder.maxWait;
    this.waitForQuorum = builder.waitForQuorum;
    this.autoExtend = builder.autoExtend;
    this.maxHold = builder.maxHold;
    this.metadata = builder.metadata;
    this.shared = builder.shared;
    this.fair = builder.fair;
    this.interruptOnLoss = builder.interruptOnLoss;
  }

  /** One resource, everything else by default. */
  public static LockRequest of(String resource, Duration ttl) {
    return builder(resource).ttl(ttl).build();
  }

  /** One resource whose lease is extended in the background until it is released. */
  public static LockRequest autoExtended(String resource, Duration ttl) {
    return builder(resource).ttl(ttl).autoExtend(true).build();
  }

  /** A builder for one resource or several; all or nothing, whatever the order of the names. */
  public static Builder builder(String... resources) {
    return new Builder(Arrays.asList(Objects.requireNonNull(resources, "resources")));
  }

  /** A builder for one resource or several; all or nothing, whatever the order of the names. */
  public static Builder builder(Collection<String> resources) {
    return new Builder(Objects.requireNonNull(resources, "resources"));
  }

  /** The names to lock: sorted, without duplicates. */
  public List<String> resources() {
    return resources;
  }

  /** How long the nodes keep the lock if nobody extends or releases it; whole milliseconds. */
  public Duration ttl() {
    return ttl;
  }

  /** The wait budget; empty means by the client's retry policy. */
  public Optional<Duration> maxWait() {
    return Optional.ofNullable(maxWait);
  }

  /** Whether to go on waiting while so many nodes refuse that no quorum can be had. */
  public boolean waitForQuorum() {
    return waitForQuorum;
  }

  /**
   * Whether the lease is extended in the background; {@code using} does so by default. It ends when
   * nobody refers to the lease any more and nobody is to hear of its loss (see {@link
   * Lease#onLost}).
   */
  public boolean autoExtend() {
    return autoExtend != null && autoExtend;
  }

  /** The longest time for which a lease may be held, however often it is extended. */
  public Optional<Duration> maxHold() {
    return Optional.ofNullable(maxHold);
  }

  /** The caller's text in the owner value, for people who look at a node; may be empty. */
  public String metadata() {
    return metadata;
  }

  /** Whether other shared holders may hold the resources at the same time. */
  public boolean shared() {
    return shared;
  }

  /** Whether waiters of all clients are served in the order in which they came. */
  public boolean fair() {
    return fair;
  }

  /** Whether {@code using} interrupts the body's thread when the lease is lost. */
  public boolean interruptOnLoss() {
    return interruptOnLoss;
  }

  /** This request, with a wait budget if it has none. */
  LockRequest withDefaultWait(Duration budget) {
    return maxWait != null ? this : withWait(budget);
  }

  /** This request, with this wait budget. */
  LockRequest withWait(Duration budget) {
    return new Builder(this).maxWait(budget).build();
  }

  /** This request, with an answer to whether to extend in the background if it has none. */
  LockRequest withDefaultAutoExtend(boolean extend) {
    return autoExtend != null ? this : new Builder(this).autoExtend(extend).build();
  }

  @Override
  public String toString() {
    return "LockRequest" + resources + " ttl " + ttl;
  }

  /** Collects the parts of a request; each setter checks its value at once. Not thread-safe. */
  public static final class Builder {
    private final List<String> resources;
    private @Nullable Duration ttl;
    private @Nullable Duration maxWait;
    private boolean waitForQuorum;
    private @Nullable Boolean autoExtend;
    private @Nullable Duration maxHold;
    private String metadata = "";
    private boolean shared;
    private boolean fair;
    private boolean interruptOnLoss;

    private Builder(Collection<String> resources) {
      this.resources = checkedResources(resources);
    }

    private Builder(LockRequest request) {
      this.resources = request.resources;
      this.ttl = request.ttl;
      this.maxWait = request.maxWait;
      this.waitForQuorum = request.waitForQuorum;
      this.autoExtend = request.autoExtend;
      this.maxHold = request.maxHold;
      this.metadata = request.metadata;
      this.shared = request.shared;
      this.fair = request.fair;
      this.interruptOnLoss = request.interruptOnLoss;
    }

    /** Sets the ttl: at least 1 ms; rounded down to whole milliseconds. Required. */
    public Builder ttl(Duration ttl) {
      this.ttl = Checks.ttl("ttl", ttl);
      return this;
    }

    /**
     * Sets the wait budget instead of the client's retry policy: zero makes exactly one round,
     * {@link #FOREVER} waits without end. Not negative.
     */
    public Builder maxWait(Duration maxWait) {
      this.maxWait = Checks.notNegative("maxWait", maxWait);
      return this;
    }

    /**
     * Goes on waiting, within the same budget, while so many nodes refuse (the connection, by an
     * error, or since they may not vote) that no quorum can be had. By default a call fails as soon
     * as that is known; one that has waited for the holder asks once more, since its connections
     * may have been reset. Nodes that are merely silent are waited for in any case.
     */
    public Builder waitForQuorum(boolean waitForQuorum) {
      this.waitForQuorum = waitForQuorum;
      return this;
    }

    /**
     * Extends the lease in the background until it is released. Default: on for {@code using}, off
     * for {@code acquire}.
     */
    public Builder autoExtend(boolean autoExtend) {
      this.autoExtend = autoExtend;
      return this;
    }

    /**
     * Limits the whole hold: the lease ends at this time after its grant, whoever extends it.
     * Positive.
     */
    public Builder maxHold(Duration maxHold) {
      this.maxHold = Checks.positive("maxHold", maxHold);
      return this;
    }

    /**
     * Sets a text that stands behind the random part of the owner value, for people who look at a
     * node: at most {@value #MAX_METADATA_LENGTH} characters, no control characters.
     */
    public Builder metadata(String metadata) {
      this.metadata = Checks.text("metadata", metadata, 0, MAX_METADATA_LENGTH);
      return this;
    }

    /**
     * Asks for a shared (reader's) hold, which excludes exclusive holders only. Its fencing token
     * is above that of every earlier exclusive hold and below that of every later one; other shared
     * holds may have the same one, so it must not be used to tell holders apart. Not every store
     * can do this; one that cannot refuses the request before any I/O.
     */
    public Builder shared(boolean shared) {
      this.shared = shared;
      return this;
    }

    /**
     * Serves the waiters of all clients that ask for this in the order in which they came. Not
     * every store can do this; one that cannot refuses the request before any I/O.
     */
    public Builder fair(boolean fair) {
      this.fair = fair;
      return this;
    }

    /**
     * Interrupts the thread that runs the body of {@code using} when the lease is lost. The flag
     * does not outlive the body, unless the thread was interrupted by another before, or after the
     * body had taken this interrupt by an {@link InterruptedException}. An interrupt of another's
     * that comes while this one is pending cannot be told from it, and ends with it.
     */
    public Builder interruptOnLoss(boolean interruptOnLoss) {
      this.interruptOnLoss = interruptOnLoss;
      return this;
    }

    /**
     * The request.
     *
     * @throws IllegalArgumentException if no ttl was set
     */
    public LockRequest build() {
      if (ttl == null) {
        throw new IllegalArgumentException("ttl is not set; every request needs one");
      }
      return new LockRequest(this, ttl);
    }

    private static List<String> checkedResources(Collection<String> names) {
      TreeSet<String> sorted = new TreeSet<>();
      for (String name : names) {
        sorted.add(Checks.text("resource", name, 1, MAX_NAME_LENGTH));
      }
      if (sorted.isEmpty() || sorted.size() > MAX_RESOURCES) {
        throw new IllegalArgumentException(
            "resources has " + sorted.size() + " names; it must have 1 to " + MAX_RESOURCES);
      }
      return List.copyOf(sorted);
    }
  }
}
