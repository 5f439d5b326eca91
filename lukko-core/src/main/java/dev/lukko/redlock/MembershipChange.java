package dev.lukko.redlock;

import dev.lukko.LockException;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeSet;
import dev.lukko.spi.NodeStatus;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Changes the set of nodes of a fleet while its locks are in use: adds nodes, removes them,
 * replaces one or all.
 *
 * <pre>{@code
 * MembershipChange.builder()
 *     .nodes(RedisNode.connectAll(a, b, c))
 *     .to(RedisNode.connectAll(a, b, c, d, e))
 *     .build()
 *     .run();
 * }</pre>
 *
 * <p><b>How.</b> First the record at a majority of the present nodes and of the next ones names
 * both sets; from then on every lock needs a majority of both. Then it waits until nothing can rest
 * on the present set alone any more: the longest ttl, with drift, counted from when a majority of
 * the present nodes had that record. Then it reads the highest counter of a majority of the present
 * nodes, and writes the record of the next set with that as a floor, above which tokens go on.
 *
 * <p>It may end at any point, and is gone on with by running it again with the same nodes; it then
 * waits again in full. There is no way back: to undo a change is another change. Of two at a time
 * with different aims one fails.
 *
 * <p>An object is used once. Not thread-safe.
 */
public final class MembershipChange {
  private static final long BETWEEN_LOOKS_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final List<LockNode> nodes;
  private final Set<String> listed;
  private final Set<String> target;
  private final FleetPlan.Client client;
  private final Duration maxTtl;
  private final long waitNanos;
  private final Duration nodeTimeout;
  private final long nodeTimeoutNanos;
  private final long patienceNanos;
  private final Ticker ticker;
  private final Scheduler scheduler;
  private final SecureRandom random;
  private final Consumer<? super String> progress;
  private final CompletableFuture<Result> result = new CompletableFuture<>();

  private List<Seat> former;
  private List<NodeStatus> looked = List.of();
  private String key = "";
  private boolean begun;
  private boolean waitedForAnother;
  private long startNanos;
  private long waitedForEpoch = -1;
  private long leftNanos;
  private @Nullable CounterReading heard;

  MembershipChange(MembershipChangeBuilder builder) {
    Map<String, LockNode> all = new LinkedHashMap<>();
    builder.present.forEach(node -> all.put(node.name(), node));
    builder.next.forEach(node -> all.putIfAbsent(node.name(), node));
    OpenReleases releases = new OpenReleases();
    this.nodes =
        all.values().stream().<LockNode>map(node -> new GuardedNode(node, releases)).toList();
    this.listed = new HashSet<>(builder.present.stream().map(LockNode::name).toList());
    this.target = new HashSet<>(builder.next.stream().map(LockNode::name).toList());
    this.maxTtl = builder.maxTtl;
    this.client =
        new FleetPlan.Client(
            List.copyOf(all.keySet()), builder.fleet, false, builder.maxTtl.toMillis(), false);
    long ttlNanos = Scheduler.toNanosSaturated(builder.maxTtl);
    this.waitNanos =
        ttlNanos
            + ValidityWindow.driftNanos(
                ttlNanos, builder.driftFactor, TimeUnit.MILLISECONDS.toNanos(2));
    this.nodeTimeout = builder.nodeTimeout;
    this.nodeTimeoutNanos = Scheduler.toNanosSaturated(builder.nodeTimeout);
    this.patienceNanos = Scheduler.toNanosSaturated(builder.patience);
    this.ticker = builder.ticker;
    this.scheduler = Objects.requireNonNull(builder.scheduler);
    this.random = builder.random;
    this.progress = builder.progress;
    this.former =
        Collections.nCopies(
            nodes.size(), Seat.unknown(NodeStatus.unreachable("not looked at yet")));
  }

  /** A builder. */
  public static MembershipChangeBuilder builder() {
    return new MembershipChangeBuilder();
  }

  /**
   * What was done.
   *
   * @param fleet the fleet's name
   * @param members the ids of its nodes now
   * @param floor what all tokens lie above from now on; zero if nothing had to be done
   * @param changed whether anything had to be done
   */
  public record Result(String fleet, List<String> members, long floor, boolean changed) {
    public Result {
      members = List.copyOf(members);
    }
  }

  /**
   * Begins, or goes on with what was begun before; the future ends with the change.
   *
   * @return fails with a {@link LockException} that says why and what to do
   */
  public CompletableFuture<Result> start() {
    startNanos = ticker.nanoTime();
    look();
    return result;
  }

  /**
   * Does it, and waits for the end.
   *
   * @throws LockException if it cannot be done now; what was begun is gone on with by the next run
   */
  public Result run() {
    try {
      return start().get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      result.cancel(false);
      throw new LockException("the change was interrupted; run it again to go on with it");
    } catch (ExecutionException failure) {
      if (failure.getCause() instanceof LockException refused) {
        throw refused;
      }
      throw new LockException("the change failed by a mistake of Lukko's", failure.getCause());
    }
  }

  // ---- looking

  private void look() {
    then(askAll(LockNode::status), this::onLooked);
  }

  private <T> void then(CompletableFuture<T> stage, Consumer<? super T> step) {
    stage
        .thenAccept(
            value -> {
              if (!result.isDone()) {
                step.accept(value);
              }
            })
        .exceptionally(
            failure -> {
              result.completeExceptionally(unwrapped(failure));
              return null;
            });
  }

  private void lookLater(long nanos) {
    scheduler.schedule(
        () -> {
          if (!result.isDone()) {
            look();
          }
        },
        nanos);
  }

  private void onLooked(List<NodeStatus> statuses) {
    looked = statuses;
    refuseUnfit();
    FleetPlan plan = FleetPlan.of(client, statuses, former, key);
    if (!plan.ambiguity().isEmpty()) {
      throw new LockException(plan.ambiguity());
    }
    FleetRecord fleet = plan.fleet();
    if (fleet == null || plan.isFounding()) {
      awaitOthers("no fleet has a majority of its nodes among " + names(i -> true));
      return;
    }
    former = plan.seats();
    key = fleet.key();
    if (fleet.isJoint()) {
      refuseAnotherAim(fleet);
    }
    if (plan.looksAgain()) {
      look();
    } else if (isAnythingToWrite(plan, fleet)) {
      write(i -> changeOf(plan, fleet, i), after -> look()); // as each client does
    } else if (fleet.isJoint()) {
      goOn(fleet, plan.electorate());
    } else if (isTarget(fleet.set())) {
      result.complete(new Result(fleet.fleet(), fleet.members(), begun ? fleet.floor() : 0, begun));
    } else if (begun) {
      throw new LockException(
          fleet.describe()
              + " was changed to other nodes at the same time; look at it, and decide anew");
    } else {
      begin(fleet, plan.electorate());
    }
  }

  private boolean isAnythingToWrite(FleetPlan plan, FleetRecord fleet) {
    for (int i = 0; i < nodes.size(); i++) {
      if (changeOf(plan, fleet, i) != null) {
        return true;
      }
    }
    return false;
  }

  /**
   * What each client would write. A listed node that has forgotten gets the place that it had
   * before the change begins; but a new node gets its place by the change, and no other.
   */
  private @Nullable FleetChange changeOf(FleetPlan plan, FleetRecord fleet, int node) {
    FleetChange change = plan.change(node);
    boolean replaces =
        change != null && change.record().epoch() > fleet.epoch() && !fleet.isJoint();
    return replaces && !isForListed() ? null : change;
  }

  /** Whether the first server without a record, which is the one that a place is for, is listed. */
  private boolean isForListed() {
    for (int i = 0; i < nodes.size(); i++) {
      FleetMemory memory = looked.get(i).memory();
      if (memory != null && memory.record(key).isEmpty()) {
        return listed.contains(nodes.get(i).name());
      }
    }
    return false;
  }

  private void write(IntFunction<@Nullable FleetChange> changes, Consumer<List<NodeStatus>> next) {
    List<NodeStatus> seen = looked;
    then(
        askAll(
            node -> {
              int index = nodes.indexOf(node);
              FleetChange change = changes.apply(index);
              return change == null
                  ? CompletableFuture.completedFuture(seen.get(index))
                  : node.admit(seen.get(index), change);
            }),
        statuses -> {
          looked = statuses;
          next.accept(statuses);
        });
  }

  private CompletableFuture<List<NodeStatus>> askAll(
      Function<LockNode, CompletionStage<NodeStatus>> question) {
    return Admission.askAll(
        nodes, scheduler, nodeTimeoutNanos, "no answer within " + nodeTimeout, question);
  }

  private void awaitOthers(String what) {
    if (ticker.nanoTime() - startNanos > patienceNanos) {
      throw new LockException(
          what + "; nothing is lost: see to the nodes, and run the same change again");
    }
    lookLater(BETWEEN_LOOKS_NANOS);
  }

  private void refuseUnfit() {
    Map<String, String> byIdentity = new LinkedHashMap<>();
    for (int i = 0; i < nodes.size(); i++) {
      NodeStatus status = looked.get(i);
      String name = nodes.get(i).name();
      String unfitness = Admission.unfitness(status, Math.max(2, nodes.size()));
      if (!unfitness.isEmpty()) {
        throw new LockException("node " + name + " is unfit to vote: " + unfitness);
      }
      if (status.identity().isPresent()) {
        String other = byIdentity.put(status.identity().get(), name);
        if (other != null) {
          throw new LockException("nodes " + other + " and " + name + " are the same server");
        }
        if (status.memory() == null) {
          throw new LockException(
              "node "
                  + name
                  + " keeps no record of its fleet; the set of its nodes cannot be changed online");
        }
      }
    }
  }

  private boolean isWanted(int node) {
    return target.contains(nodes.get(node).name());
  }

  /** Whether these are the nodes that were asked for, as far as they can be reached. */
  private boolean isTarget(NodeSet set) {
    for (int i = 0; i < nodes.size(); i++) {
      String self = former.get(i).self();
      String fresh = looked.get(i).identity().map(FleetRecord::idOf).orElse("");
      boolean known = !self.isEmpty() || !fresh.isEmpty();
      if (known && (set.contains(self) || set.contains(fresh)) != isWanted(i)) {
        return false;
      }
    }
    return set.size() == target.size() && !set.hasRoom();
  }

  private String names(IntPredicate which) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      if (which.test(i)) {
        names.add(nodes.get(i).name());
      }
    }
    return String.join(", ", names);
  }

  // ---- both sets

  /**
   * The new nodes get the record first, in which they may vote at once: they have granted nothing
   * in an epoch that nobody has heard of. Their ids are drawn here, so that nobody else can give
   * them such a record, and one that forgets afterwards counts as a new server. But while a member
   * is missing, a server without a record may be that member, which has forgotten: then they wait
   * out the quarantine.
   */
  private void begin(FleetRecord fleet, Electorate electorate) {
    for (int i = 0; i < nodes.size(); i++) {
      if (isWanted(i) && looked.get(i).identity().isEmpty()) {
        throw new LockException(
            "node " + nodes.get(i).name() + " cannot be reached: " + looked.get(i).describe());
      }
    }
    if (!electorate.isMajority(i -> former.get(i).seen() != null)) {
      awaitOthers("no majority of " + fleet.describe() + " can be reached");
      return;
    }
    Map<Integer, String> ids = new LinkedHashMap<>();
    Set<Integer> fresh = new HashSet<>();
    for (int i = 0; i < nodes.size(); i++) {
      boolean member = former.get(i).seen() != null;
      if (isWanted(i)) {
        ids.put(i, member ? former.get(i).self() : mint());
        if (!member) {
          fresh.add(i);
        }
      }
    }
    if (!waitedForAnother && fresh.stream().anyMatch(i -> isTakenUp(i, fleet))) {
      // By another change that is about to begin, or that has ended before it began.
      waitedForAnother = true;
      lookLater(2 * nodeTimeoutNanos);
      return;
    }
    FleetRecord joint =
        fleet.in(fleet.epoch() + 1, fleet.set(), NodeSet.of(ids.values()), fleet.floor());
    progress.accept(
        fleet.describe()
            + " changes to "
            + target.size()
            + ": "
            + names(ids::containsKey)
            + (fresh.isEmpty() ? "" : "; new: " + names(fresh::contains)));
    begun = true;
    long present = former.stream().filter(seat -> fleet.set().contains(voter(seat))).count();
    long pause = present == fleet.set().size() ? 0 : client.quarantineMillis();
    write(
        i ->
            fresh.contains(i)
                ? FleetChange.of(
                    joint.of(
                        Objects.requireNonNull(ids.get(i)),
                        memory(i).run(),
                        0,
                        FleetRecord.UNMARKED),
                    pause)
                : null,
        statuses -> {
          for (int i : fresh) {
            FleetMemory memory = statuses.get(i).memory();
            boolean there =
                memory != null
                    && memory
                        .record(key)
                        .filter(record -> record.self().equals(ids.get(i)))
                        .isPresent();
            if (!there) {
              throw new LockException(
                  "node "
                      + nodes.get(i).name()
                      + " has not taken its record ("
                      + statuses.get(i).describe()
                      + "); nothing has changed: run it again");
            }
          }
          enter(joint);
        });
  }

  private boolean isTakenUp(int node, FleetRecord fleet) {
    return memory(node)
        .record(key)
        .filter(record -> record.isJoint() && record.epoch() > fleet.epoch())
        .isPresent();
  }

  /**
   * The members enter the new epoch. One is the first, the same for all who begin an epoch: of a
   * change and of a client that replaces a node at this moment only one can come first.
   */
  private void enter(FleetRecord joint) {
    List<NodeStatus> seen = looked;
    int first = -1;
    for (int i = 0; i < nodes.size(); i++) {
      FleetRecord record = presentRecord(seen, i, joint);
      boolean before = first < 0 || former.get(i).self().compareTo(former.get(first).self()) < 0;
      first = record != null && before ? i : first;
    }
    int firstOfAll = first;
    write(
        i -> i == firstOfAll ? entering(seen, i, joint) : null,
        statuses -> {
          boolean entered =
              firstOfAll >= 0
                  && Optional.ofNullable(statuses.get(firstOfAll).memory())
                      .flatMap(memory -> memory.record(key))
                      .filter(record -> record.epoch() == joint.epoch())
                      .filter(record -> Objects.equals(record.next(), joint.next()))
                      .isPresent();
          if (entered) {
            write(i -> i == firstOfAll ? null : entering(seen, i, joint), after -> look());
          } else {
            look(); // Somebody else was first.
          }
        });
  }

  private @Nullable FleetChange entering(List<NodeStatus> seen, int node, FleetRecord joint) {
    FleetRecord record = presentRecord(seen, node, joint);
    return record == null
        ? null
        : FleetChange.of(
            record.in(joint.epoch(), joint.set(), joint.next(), joint.floor()),
            FleetChange.AS_WRITTEN);
  }

  /** The record of a member that has not entered the epoch yet. */
  private @Nullable FleetRecord presentRecord(List<NodeStatus> seen, int node, FleetRecord joint) {
    FleetMemory memory = seen.get(node).memory();
    FleetRecord record = memory == null ? null : memory.record(key).orElse(null);
    boolean present =
        record != null
            && former.get(node).seen() != null
            && record.epoch() == joint.epoch() - 1
            && joint.set().contains(record.self());
    return present ? record : null;
  }

  /** The id of a node that votes now, or nothing. */
  private static String voter(Seat seat) {
    return seat.seen() == null ? "" : seat.self();
  }

  private String mint() {
    byte[] bytes = new byte[6];
    random.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private FleetMemory memory(int node) {
    return Objects.requireNonNull(looked.get(node).memory());
  }

  // ---- waiting, reading, finishing

  private void refuseAnotherAim(FleetRecord fleet) {
    NodeSet next = Objects.requireNonNull(fleet.next());
    if (!isTarget(next)) {
      throw new LockException(
          fleet.describe()
              + " is under way to other nodes (next: "
              + String.join(", ", next.ids())
              + "); finish that change first, by running it again with its nodes");
    }
  }

  private void goOn(FleetRecord fleet, Electorate electorate) {
    if (!electorate.isMajority(i -> former.get(i).seen() != null)) {
      awaitOthers("no majority of the present nodes and of the next ones can be reached");
      return;
    }
    begun = true;
    long now = ticker.nanoTime();
    if (waitedForEpoch != fleet.epoch()) {
      waitedForEpoch = fleet.epoch();
      leftNanos = now;
      heard = null;
      progress.accept(
          "both sets decide together now; waits for the longest ttl, "
              + maxTtl
              + ", until no lock rests on the former set alone");
    }
    long left = leftNanos + waitNanos - now;
    CounterReading told = heard;
    if (left > 0) {
      lookLater(left);
    } else if (told == null) {
      read(fleet);
    } else if (told.isStillTrue(former, fleet)) {
      finish(fleet, Math.max(told.highest(), Math.max(fleet.floor(), wallMicros())));
    } else {
      heard = null;
      awaitOthers("nodes have changed while their counters were read");
    }
  }

  /** Reads the counters of the present nodes, all of which have left the former epoch by now. */
  private void read(FleetRecord fleet) {
    then(
        CounterReading.of(
            nodes,
            former,
            fleet,
            scheduler,
            Math.max(patienceNanos, nodeTimeoutNanos),
            this::notTold),
        told -> {
          if (told == null) {
            awaitOthers("no majority of the present nodes has told its highest counter");
          } else {
            heard = told;
            look();
          }
        });
  }

  private static Throwable unwrapped(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  private void notTold(LockNode node, Throwable failure) {
    Throwable cause = unwrapped(failure);
    if (cause instanceof UnsupportedOperationException) {
      throw new LockException(String.valueOf(cause.getMessage()), cause);
    }
    progress.accept("the counters of " + node.name() + " could not be read: " + cause.getMessage());
  }

  /** A node that has forgotten before its clock is known needs the clock in the proposals. */
  private long wallMicros() {
    long wallMicros = ticker.wallMicros();
    return wallMicros < Plausible.FAR ? wallMicros : 0;
  }

  private void finish(FleetRecord fleet, long floor) {
    NodeSet next = Objects.requireNonNull(fleet.next());
    List<NodeStatus> seen = looked;
    progress.accept("tokens go on above " + floor + "; the next set decides alone from now on");
    write(
        i -> {
          FleetMemory memory = seen.get(i).memory();
          FleetRecord record = memory == null ? null : memory.record(key).orElse(null);
          return record == null || record.epoch() != fleet.epoch() || former.get(i).seen() == null
              ? null
              : FleetChange.of(
                  record.in(fleet.epoch() + 1, next, null, floor), FleetChange.AS_WRITTEN);
        },
        statuses -> look());
  }
}
