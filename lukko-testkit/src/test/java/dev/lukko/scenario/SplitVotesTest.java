package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockRequest;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.LockCall;
import dev.lukko.testkit.LockCall.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A3: votes that are split, and every order in which requests and replies can arrive. */
class SplitVotesTest {
  private static final LockRequest ONE_ROUND = Rig.request(ms(10_000), ms(0));

  @ParameterizedTest
  @EnumSource
  void halfOfTheNodesRefuseThenTheRoundEndsAtOnceThoughTheOthersHang(EntryPoint entryPoint) {
    for (int nodes : new int[] {2, 4, 6}) {
      try (Rig rig = Rig.of(nodes)) {
        for (int i = 1; i <= nodes; i++) {
          if (i <= nodes / 2) {
            rig.holdForeign(i, ms(60_000));
          } else {
            rig.node(i).fault(Fault.HOLD_REQUESTS);
          }
        }
        assertThat(entryPoint.call(rig.client(), ONE_ROUND).outcome()).isEqualTo(Outcome.BUSY);
      }
    }
  }

  @Test
  void contendersThatSplitTheVotesAgainAndAgainEachGetTheLockInTheEnd() {
    for (int nodes = 1; nodes <= 5; nodes++) {
      try (Rig rig = Rig.of(nodes)) {
        List<LockCall> waiting = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
          Rig.Party party = rig.party();
          party.fault(Fault.HOLD_REQUESTS);
          LockRequest request = Rig.request(ms(10_000), ms(60_000));
          waiting.add(EntryPoint.ACQUIRE_ASYNC.call(party.client(), request));
          int own = i % nodes;
          party.nodes().get(own).heal(); // Each has one node's vote before the others come.
          party.heal();
        }
        for (int step = 0; step < 3_000 && !waiting.isEmpty(); step++) {
          rig.time.advance(ms(10));
          List<LockCall> granted = waiting.stream().filter(call -> !call.isWaiting()).toList();
          assertThat(granted).hasSizeLessThan(2);
          for (LockCall call : granted) {
            assertThat(call.outcome()).isEqualTo(Outcome.GRANTED);
            assertThat(call.finish()).isEmpty();
            waiting.remove(call);
          }
        }
        assertThat(waiting).isEmpty();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void everyOrderOfRepliesIsDecidedByTheFirstReplyThatCanDecideIt(int nodes) {
    List<List<Integer>> orders = permutations(nodes);
    for (int mask = 0; mask < 1 << nodes; mask++) {
      for (List<Integer> order : orders) {
        try (Rig rig = Rig.of(nodes)) {
          for (int i = 1; i <= nodes; i++) {
            if ((mask & 1 << i - 1) == 0) {
              rig.holdForeign(i, ms(60_000));
            }
          }
          rig.main().fault(Fault.HOLD_REPLIES);
          LockCall call = EntryPoint.ACQUIRE_ASYNC.call(rig.client(), ONE_ROUND);
          int quorum = nodes / 2 + 1;
          int yes = 0;
          int no = 0;
          for (int number : order) {
            Outcome expected =
                yes >= quorum ? Outcome.GRANTED : no > nodes - quorum ? Outcome.BUSY : null;
            assertThat(call.isWaiting()).isEqualTo(expected == null);
            rig.node(number).fault(Fault.NONE);
            rig.node(number).releaseHeld();
            if ((mask & 1 << number - 1) == 0) {
              no++;
            } else {
              yes++;
            }
          }
          assertThat(call.outcome()).isEqualTo(yes >= quorum ? Outcome.GRANTED : Outcome.BUSY);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void everyOrderOfTwoContendersAtTheNodesHasOneWinnerAtMostAndLosersLeaveNothing(int nodes) {
    int quorum = nodes / 2 + 1;
    for (int mask = 0; mask < 1 << nodes; mask++) {
      try (Rig rig = Rig.of(nodes)) {
        List<Rig.Party> requests = List.of(rig.party(), rig.party());
        List<Rig.Party> replies = requests.stream().map(party -> rig.behind(party)).toList();
        requests.forEach(party -> party.fault(Fault.HOLD_REQUESTS));
        replies.forEach(party -> party.fault(Fault.HOLD_REPLIES));
        List<LockCall> calls =
            replies.stream()
                .map(party -> EntryPoint.ACQUIRE_ASYNC.call(party.client(), ONE_ROUND))
                .toList();
        requests.forEach(party -> party.fault(Fault.NONE));
        for (int i = 0; i < nodes; i++) {
          int first = mask >> i & 1;
          requests.get(first).nodes().get(i).releaseHeld();
          requests.get(1 - first).nodes().get(i).releaseHeld();
        }
        replies.forEach(Rig.Party::heal);

        int second = Integer.bitCount(mask);
        assertThat(calls.get(0).outcome())
            .isEqualTo(nodes - second >= quorum ? Outcome.GRANTED : Outcome.BUSY);
        assertThat(calls.get(1).outcome())
            .isEqualTo(second >= quorum ? Outcome.GRANTED : Outcome.BUSY);
        int winners = second == nodes - second ? 0 : 1;
        for (int i = 1; i <= nodes; i++) {
          assertThat(rig.ownersAt(i)).hasSizeLessThanOrEqualTo(winners);
        }
      }
    }
  }

  private static List<List<Integer>> permutations(int size) {
    if (size == 0) {
      return List.of(List.of());
    }
    List<List<Integer>> all = new ArrayList<>();
    for (List<Integer> shorter : permutations(size - 1)) {
      for (int at = 0; at < size; at++) {
        List<Integer> longer = new ArrayList<>(shorter);
        longer.add(at, size);
        all.add(longer);
      }
    }
    return all;
  }
}
