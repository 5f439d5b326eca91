package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockRequest;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A4: every mask of nodes that grant, refuse, are down or hang. */
class MasksTest {
  private static final LockRequest ONE_ROUND = Rig.request(ms(10_000), ms(0));
  private static final long NODE_TIMEOUT_MILLIS = 500;

  private enum Node {
    GRANTS,
    REFUSES,
    DOWN,
    HANGS
  }

  static Stream<Arguments> everyWay() {
    return Arrays.stream(EntryPoint.values())
        .flatMap(
            entryPoint ->
                Stream.of(Fault.HOLD_REQUESTS, Fault.HOLD_REPLIES)
                    .map(hanging -> Arguments.of(entryPoint, hanging)));
  }

  @ParameterizedTest
  @MethodSource("everyWay")
  void wonExactlyWithAQuorumOfGrantsAndNothingIsLeftOtherwise(
      EntryPoint entryPoint, Fault hanging) {
    int most =
        hanging == Fault.HOLD_REQUESTS ? 5 : 4; // The rest differs by little, and takes time.
    for (int nodes = 1; nodes <= most; nodes++) {
      int masks = 1 << 2 * nodes;
      for (int number = 0; number < masks; number++) {
        Node[] mask = mask(nodes, number);
        try {
          verify(entryPoint, hanging, mask);
        } catch (AssertionError failure) {
          throw new AssertionError(
              "mask " + Arrays.toString(mask) + ": " + failure.getMessage(), failure);
        }
      }
    }
  }

  private static Node[] mask(int nodes, int number) {
    Node[] mask = new Node[nodes];
    for (int i = 0; i < nodes; i++) {
      mask[i] = Node.values()[number >> 2 * i & 3];
    }
    return mask;
  }

  private static void verify(EntryPoint entryPoint, Fault hanging, Node[] mask) {
    try (Rig rig = Rig.of(mask.length)) {
      prepare(rig, hanging, mask);

      LockCall call = entryPoint.call(rig.client(), ONE_ROUND);
      if (call.isWaiting()) {
        rig.time.advance(ms(NODE_TIMEOUT_MILLIS));
      }

      assertThat(call.outcome()).isEqualTo(expected(mask));
      if (call.outcome() == Outcome.GRANTED) {
        assertThat(call.lease().isValid()).isTrue();
        assertThat(call.finish()).isEmpty();
      }
      assertNothingOfOursAtReachableNodes(rig, mask);

      rig.main().heal();

      assertNothingOfOursAtReachableNodes(rig, new Node[mask.length]);
    }
  }

  private static void prepare(Rig rig, Fault hanging, Node[] mask) {
    for (int i = 0; i < mask.length; i++) {
      switch (mask[i]) {
        case GRANTS -> {}
        case REFUSES -> rig.holdForeign(i + 1, ms(60_000));
        case DOWN -> rig.node(i + 1).fault(Fault.DOWN);
        case HANGS -> rig.node(i + 1).fault(hanging);
      }
    }
  }

  /** Reads the votes in the order of the nodes, as they come in here, up to the decision. */
  private static Outcome expected(Node[] mask) {
    int quorum = mask.length / 2 + 1;
    int grants = 0;
    int refusals = 0;
    int faults = 0;
    for (Node node : mask) {
      grants += node == Node.GRANTS ? 1 : 0;
      refusals += node == Node.REFUSES ? 1 : 0;
      faults += node == Node.DOWN ? 1 : 0;
      if (grants >= quorum) {
        return Outcome.GRANTED;
      }
      if (refusals + faults > mask.length - quorum) {
        return faults > mask.length - quorum ? Outcome.UNREACHABLE : Outcome.BUSY;
      }
    }
    int silent = mask.length - grants - refusals - faults;
    return faults + silent > mask.length - quorum ? Outcome.UNREACHABLE : Outcome.BUSY;
  }

  private static void assertNothingOfOursAtReachableNodes(Rig rig, Node[] mask) {
    for (int i = 1; i <= mask.length; i++) {
      if (mask[i - 1] != Node.HANGS) {
        assertThat(rig.store(i).inspect(Rig.R).toCompletableFuture().join().holders())
            .as("holders at n%s", i)
            .allMatch(holder -> holder.description().contains("foreign"));
      }
    }
  }
}
