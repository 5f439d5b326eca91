package dev.lukko.redlock;

import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One look at all nodes of a client: what they have told, and the places and changes that follow
 * from it, which {@link FleetPlan} and {@link FleetMembership} fill in. Not thread-safe.
 */
final class FleetLook {
  final FleetPlan.Client client;

  /** What the nodes have told. */
  final List<NodeStatus> statuses;

  /** What was known of them before. */
  final List<Seat> former;

  final Seat[] seats;
  final @Nullable FleetChange[] changes;

  /** Different servers that keep records. */
  final List<Integer> keepers = new ArrayList<>();

  /** Different servers that keep none. */
  final List<Integer> others = new ArrayList<>();

  FleetLook(FleetPlan.Client client, List<NodeStatus> statuses, List<Seat> former) {
    this.client = client;
    this.statuses = statuses;
    this.former = former;
    this.seats = new Seat[statuses.size()];
    this.changes = new FleetChange[statuses.size()];
    seat();
  }

  FleetMemory memory(int node) {
    return Objects.requireNonNull(statuses.get(node).memory());
  }

  /** The id that a server gets that has none in the fleet. */
  String freshId(int node) {
    return FleetRecord.idOf(statuses.get(node).identity().orElseThrow());
  }

  private void seat() {
    Map<String, Integer> byIdentity = new HashMap<>();
    for (int i : formerMembersFirst(IntStream.range(0, seats.length).boxed().toList())) {
      NodeStatus status = statuses.get(i);
      String identity = status.identity().orElse("");
      if (status.state() == State.UNREACHABLE || identity.isEmpty()) {
        seats[i] = former.get(i).barred(status);
        continue;
      }
      Integer twin = byIdentity.putIfAbsent(identity, i);
      String unfitness = Admission.unfitness(status, seats.length);
      if (!unfitness.isEmpty()) {
        seats[i] = former.get(i).barred(status.with(State.UNFIT, unfitness, Duration.ZERO));
      } else if (twin != null) {
        seats[i] = twinOf(twin, i);
      } else if (status.memory() == null) {
        seats[i] = new Seat(identity, FleetRecord.idOf(identity), status);
        others.add(i);
      } else {
        seats[i] = former.get(i).barred(status);
        keepers.add(i);
      }
    }
    Collections.sort(keepers);
  }

  /** A node that was this server before keeps its vote, not the one that leads there now. */
  List<Integer> formerMembersFirst(Collection<Integer> which) {
    List<Integer> order = new ArrayList<>(which);
    order.sort((a, b) -> Boolean.compare(isStill(b), isStill(a)));
    return order;
  }

  private boolean isStill(int node) {
    return former.get(node).seen() != null
        && former.get(node).identity().equals(statuses.get(node).identity());
  }

  private Seat twinOf(int first, int node) {
    return former
        .get(node)
        .barred(
            statuses
                .get(node)
                .with(
                    State.UNFIT,
                    "it is the same server as "
                        + client.names().get(first)
                        + "; it would vote twice",
                    Duration.ZERO));
  }

  /** Whether all nodes told the same identities in the look before. */
  boolean isSeenTwice() {
    for (int i = 0; i < seats.length; i++) {
      Optional<String> identity = statuses.get(i).identity();
      if (identity.isPresent() && !identity.equals(former.get(i).identity())) {
        return false;
      }
    }
    return true;
  }

  /** For how long servers wait that have forgotten; a majority of them is a new deployment. */
  long pauseOf(boolean majority) {
    return majority && !client.strict() ? 0 : client.pauseMillis();
  }

  void bar(int node, NodeStatus status, String why) {
    State state = status.state() == State.VOTING ? State.CHANGED : status.state();
    seats[node] = former.get(node).barred(status.with(state, why, status.remaining()));
  }

  /** Nothing is said of a store in this process, which cannot have forgotten what it granted. */
  String newDeployment(int nodes, String name) {
    if (keepers.stream().allMatch(node -> memory(node).upSince().isEmpty())) {
      return "";
    }
    return nodes
        + " of "
        + seats.length
        + " nodes have no record of their present run: taken for a new deployment, fleet "
        + name
        + ", they vote at once (a strict client would wait for "
        + Duration.ofMillis(client.quarantineMillis())
        + ")";
  }
}
