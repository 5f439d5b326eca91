package dev.lukko.memory;

import dev.lukko.Holder;
import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.OwnerValue;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock node in this process's memory, with everything that a node can do.
 *
 * <p>It excludes the users of this object from each other: for tests, simulations, and programs of
 * one process that may get a real store later. All state is lost with the object; counters are kept
 * for seven days after the last grant, unless another time is set. Its clock is the ticker's
 * monotonic one. Every verb completes before it returns.
 */
public final class InMemoryNode implements LockNode {
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final Duration COUNTER_RETENTION = Duration.ofDays(7);
  private static final int GRANTS_BETWEEN_SWEEPS = 10_000;

  private final String name;
  private final Ticker ticker;
  private final long retentionNanos;
  private final Map<String, MemorySlot> slots = new HashMap<>();
  private final Map<String, List<Runnable>> watchers = new HashMap<>();
  private final long bornNanos;
  private SortedMap<String, String> directory = new TreeMap<>();

  /** From when on it votes, by what a client must have seen for it. */
  private Map<String, Long> votesFromMillis = Map.of();

  private int runs;
  private long grants;

  /** A node with a name of its own on this machine's clock. */
  public InMemoryNode() {
    this("memory-" + NUMBER.incrementAndGet());
  }

  /** A node on this machine's clock. */
  public InMemoryNode(String name) {
    this(name, Ticker.system());
  }

  /** A node on a given clock. */
  public InMemoryNode(String name, Ticker ticker) {
    this(name, ticker, COUNTER_RETENTION);
  }

  /**
   * A node on a given clock.
   *
   * @param counterRetention how long a counter is kept after the last grant of its resource; long
   *     enough for every message of a former holder to have arrived, since tokens begin anew then
   * @throws IllegalArgumentException if it is below 1 ms
   */
  public InMemoryNode(String name, Ticker ticker, Duration counterRetention) {
    this.name = Objects.requireNonNull(name, "name");
    this.ticker = Objects.requireNonNull(ticker, "ticker");
    if (counterRetention.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException(
          "counterRetention is " + counterRetention + "; it must be at least 1 ms");
    }
    this.retentionNanos = Scheduler.toNanosSaturated(counterRetention);
    this.bornNanos = ticker.nanoTime();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    return atomically(() -> grantNow(request));
  }

  private GrantReply grantNow(GrantRequest request) {
    long now = ticker.nanoTime();
    if (!votesFor(request.entry())) {
      return new NotVoting(statusFor(request.entry()));
    }
    if (++grants % GRANTS_BETWEEN_SWEEPS == 0) {
      slots.values().removeIf(slot -> slot.isForgettable(now, retentionNanos));
    }
    LockEntry entry = request.entry();
    List<MemorySlot> wanted = slotsOf(entry, now);
    FairTicket ticket = request.ticket();
    if (ticket != null) {
      wanted.forEach(slot -> slot.line.keep(ticket, now));
    }
    long highest = highestCounter(wanted);
    for (MemorySlot slot : wanted) {
      Holder inTheWay = slot.blockerOf(entry, ticket, now);
      if (inTheWay != null) {
        return new GrantReply.Refused(highest, inTheWay);
      }
    }
    if (wanted.stream().allMatch(slot -> slot.holds(entry.owner()))) {
      if (ticket != null) {
        wanted.forEach(slot -> slot.line.leave(ticket)); // who holds does not wait
      }
      return new GrantReply.Granted(wanted.get(0).numberOf(entry.owner()));
    }
    boolean joins =
        entry.shared()
            && highest > FleetRecord.floorOf(entry.seen())
            && wanted.stream().allMatch(slot -> slot.readersMayHave(highest));
    long counter = joins ? highest : Math.max(request.proposal(), highest + 1);
    if (counter > GrantRequest.MAX_COUNTER) {
      return new Failed("COUNTER: the counter of " + entry.resources() + " has reached its end");
    }
    for (MemorySlot slot : wanted) {
      slot.grant(entry, MemorySlot.expiry(now, request.ttlMillis()), counter);
      slot.granted(now);
      if (ticket != null) {
        slot.line.leave(ticket);
      }
    }
    return new GrantReply.Granted(counter);
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    return atomically(
        () -> {
          if (isOfAnotherEpoch(entry)) {
            return new NotVoting(statusFor(entry));
          }
          List<MemorySlot> wanted = slotsOf(entry, ticker.nanoTime());
          if (!wanted.stream().allMatch(slot -> slot.holds(entry.owner()))) {
            return new ConfirmReply.NotHeld();
          }
          long lowest = entry.shared() ? ownNumber(wanted, entry) : highestCounter(wanted);
          if (lowest > counter) {
            return new ConfirmReply.Higher(lowest);
          }
          wanted.forEach(slot -> slot.confirm(entry, counter));
          return new ConfirmReply.Confirmed();
        });
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    return atomically(
        () -> {
          long now = ticker.nanoTime();
          if (isOfAnotherEpoch(entry)) {
            return new NotVoting(statusFor(entry));
          }
          List<MemorySlot> wanted = slotsOf(entry, now);
          ExtendReply obstacle = obstacleTo(entry, wanted, now);
          if (obstacle != null) {
            return obstacle;
          }
          if (!wanted.stream().allMatch(slot -> slot.holds(entry.owner()))) {
            return new ExtendReply.Missing(clockMillis());
          }
          for (MemorySlot slot : wanted) {
            slot.extend(entry.owner(), MemorySlot.expiry(now, ttlMillis));
            slot.granted(now); // The counter is kept from the end of a hold on, however long.
          }
          return new ExtendReply.Extended();
        });
  }

  @Override
  public CompletionStage<ExtendReply> repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis) {
    return atomically(
        () -> {
          long now = ticker.nanoTime();
          if (isOfAnotherEpoch(entry)) {
            return new NotVoting(statusFor(entry));
          }
          if (clockMillis() > lastMillis) {
            return new ExtendReply.Missing(clockMillis());
          }
          List<MemorySlot> wanted = slotsOf(entry, now);
          ExtendReply obstacle = obstacleTo(entry, wanted, now);
          if (obstacle != null) {
            return obstacle;
          }
          wanted.forEach(slot -> slot.repair(entry, MemorySlot.expiry(now, ttlMillis), counter));
          return new ExtendReply.Extended();
        });
  }

  private static @Nullable ExtendReply obstacleTo(
      LockEntry entry, List<MemorySlot> wanted, long now) {
    for (MemorySlot slot : wanted) {
      Holder inTheWay = slot.blockerOf(entry, null, now);
      if (inTheWay != null) {
        return new ExtendReply.HeldByOther(inTheWay);
      }
    }
    return null;
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    List<Runnable> hints = new ArrayList<>();
    CompletionStage<ReleaseReply> reply =
        atomically(
            () -> {
              boolean held = true;
              int most = 0;
              for (MemorySlot slot : slotsOf(entry, ticker.nanoTime())) {
                if (slot.remove(entry.owner())) {
                  List<Runnable> told = watchers.getOrDefault(slot.resource, List.of());
                  most = Math.max(most, told.size());
                  hints.addAll(told);
                } else {
                  held = false;
                }
              }
              return held ? new ReleaseReply.Released(most) : new ReleaseReply.NotHeld();
            });
    hints.forEach(Runnable::run);
    return reply;
  }

  @Override
  public void leave(LockEntry entry, FairTicket ticket) {
    List<Runnable> hints = new ArrayList<>();
    synchronized (this) {
      for (MemorySlot slot : slotsOf(entry, ticker.nanoTime())) {
        if (slot.line.leave(ticket)) {
          hints.addAll(watchers.getOrDefault(slot.resource, List.of()));
        }
      }
    }
    hints.forEach(Runnable::run);
  }

  @Override
  public CompletionStage<Long> highestCounter() {
    return atomically(() -> highestCounter(List.copyOf(slots.values())));
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    return atomically(
        () -> {
          MemorySlot slot = slots.get(resource);
          if (slot == null) {
            return new Inspection(List.of(), OptionalLong.empty(), List.of());
          }
          long now = ticker.nanoTime();
          slot.purge(now);
          return new Inspection(
              slot.holders(now),
              slot.counter() == 0 ? OptionalLong.empty() : OptionalLong.of(slot.counter()),
              slot.owners().stream().map(OwnerValue::fingerprint).toList());
        });
  }

  @Override
  public Watch watch(String resource, Runnable hint) {
    synchronized (this) {
      watchers.computeIfAbsent(resource, key -> new CopyOnWriteArrayList<>()).add(hint);
    }
    hint.run(); // The registration is in force: whoever was released before it is found now.
    return () -> {
      synchronized (this) {
        List<Runnable> hints = watchers.get(resource);
        if (hints != null && hints.remove(hint) && hints.isEmpty()) {
          watchers.remove(resource);
        }
      }
    };
  }

  /** Whether a live entry of any owner exists for the resource. */
  public boolean isHeld(String resource) {
    synchronized (this) {
      MemorySlot slot = slots.get(resource);
      if (slot == null) {
        return false;
      }
      slot.purge(ticker.nanoTime());
      return !slot.owners().isEmpty();
    }
  }

  /**
   * Raises a resource's counter as a grant from before would have, for a node that takes the place
   * of an older one, and for tests; a counter that is higher already stays.
   *
   * @param counter the last token that was given, 1 to {@link GrantRequest#MAX_COUNTER}
   * @throws IllegalArgumentException if it is out of range
   */
  public synchronized void raiseCounter(String resource, long counter) {
    if (counter < 1 || counter > GrantRequest.MAX_COUNTER) {
      throw new IllegalArgumentException(
          "counter is " + counter + "; it must be 1 to " + GrantRequest.MAX_COUNTER);
    }
    long now = ticker.nanoTime();
    MemorySlot slot = slots.computeIfAbsent(resource, name -> new MemorySlot(name, now));
    slot.raise(counter, false);
    slot.granted(now);
  }

  /**
   * Forgets everything, entries, counters and records, as a store does that restarts empty. It
   * votes again when a client has admitted it.
   */
  public synchronized void forget() {
    slots.clear();
    runs++;
    setDirectory(new TreeMap<>());
  }

  private void setDirectory(SortedMap<String, String> replacement) {
    directory = replacement;
    Map<String, Long> votes = new HashMap<>();
    FleetMemory memory = memory();
    for (FleetRecord record : memory.records()) {
      if (record.run().equals(memory.run())) {
        votes.put(record.seen(), record.fromMillis());
      }
    }
    votesFromMillis = votes;
  }

  @Override
  public CompletionStage<NodeStatus> status() {
    return atomically(this::statusNow);
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
    return atomically(
        () -> {
          FleetMemory memory = seen.memory();
          if (memory != null
              && seen.identity().equals(Optional.of(identity()))
              && memory.directory().equals(directory)) {
            // Rounded up: a quarantine must not be shorter than it was ordered.
            long now = Math.floorDiv(ticker.nanoTime() - bornNanos + 999_999, 1_000_000L);
            setDirectory(new TreeMap<>(memory.after(change, now)));
          }
          return statusNow();
        });
  }

  /** Whether a request for an entry that was granted was sent with another record than it has. */
  private boolean isOfAnotherEpoch(LockEntry entry) {
    return !entry.seen().isEmpty() && !votesFromMillis.containsKey(entry.seen());
  }

  private boolean votesFor(LockEntry entry) {
    Long from = votesFromMillis.get(entry.seen());
    return from != null && from <= clockMillis();
  }

  /** Why it does not do what a request asks that was sent with something else than it has. */
  private NodeStatus statusFor(LockEntry entry) {
    NodeStatus status = statusNow();
    String key = FleetRecord.keyOf(entry.seen());
    NodeStatus inFleet = key.equals(entry.seen()) ? status : status.in(key);
    return inFleet.state() == NodeStatus.State.VOTING
        ? inFleet.with(NodeStatus.State.CHANGED, "", Duration.ZERO)
        : inFleet;
  }

  private NodeStatus statusNow() {
    return NodeStatus.remembering(identity(), List.of(), Set.of(), memory());
  }

  private String identity() {
    return name + "#" + Long.toHexString(bornNanos) + "." + runs;
  }

  private FleetMemory memory() {
    return new FleetMemory(FleetRecord.idOf(identity()), directory, clockMillis(), "");
  }

  private long clockMillis() {
    return Math.floorDiv(ticker.nanoTime() - bornNanos, 1_000_000L);
  }

  /** Does nothing: the node has no threads and no connections. */
  @Override
  public void close() {}

  private synchronized <R> CompletionStage<R> atomically(Supplier<? extends R> verb) {
    return CompletableFuture.completedFuture(verb.get());
  }

  private List<MemorySlot> slotsOf(LockEntry entry, long now) {
    List<MemorySlot> found = new ArrayList<>(entry.resources().size());
    for (String resource : entry.resources()) {
      MemorySlot slot = slots.computeIfAbsent(resource, name -> new MemorySlot(name, now));
      slot.purge(now);
      found.add(slot);
    }
    return found;
  }

  private static long highestCounter(List<MemorySlot> wanted) {
    return wanted.stream().mapToLong(MemorySlot::counter).max().orElse(0);
  }

  /** The number that the entry's grant got here. */
  private static long ownNumber(List<MemorySlot> wanted, LockEntry entry) {
    return wanted.stream().mapToLong(slot -> slot.numberOf(entry.owner())).max().orElse(0);
  }

  @Override
  public String toString() {
    return "InMemoryNode[" + name + "]";
  }
}
