package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.redlock.Round.Vote;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeSet;
import dev.lukko.spi.NodeStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whose votes count, while the set of nodes stands and while it changes. */
class ElectorateTest {
  private static final List<String> ABC = List.of("a", "b", "c");
  private static final List<String> DEF = List.of("d", "e", "f");
  private static final List<String> ALL = List.of("a", "b", "c", "d", "e", "f");

  private static Electorate electorate(
      List<String> listed, List<String> members, @Nullable List<String> next) {
    List<Seat> seats = new ArrayList<>();
    listed.forEach(id -> seats.add(new Seat("seen-" + id, id, NodeStatus.voting(id))));
    return Electorate.of(
        seats,
        new FleetRecord(
            "f",
            3,
            1,
            NodeSet.of(members),
            next == null ? null : NodeSet.of(next),
            9,
            "a",
            "a",
            0,
            FleetRecord.VOTING));
  }

  /** The votes of nodes by their names; silent are the others. */
  private static Tally votes(Electorate electorate, String yes, String no) {
    return electorate.tally(
        node -> {
          String id = electorate.seats().get(node).self();
          return yes.contains(id) ? Vote.YES : no.contains(id) ? Vote.NO : null;
        });
  }

  @Test
  void nodeThatIsNoMemberHasNoVote() {
    Electorate five = electorate(List.of("a", "b", "c", "d", "e"), ABC, null);
    assertThat(votes(five, "ade", "").won()).isFalse();
    assertThat(votes(five, "ab", "").won()).isTrue();
    assertThat(votes(five, "ade", "bc").refuted()).isTrue();
  }

  @Test
  void memberThatIsNotListedCountsAsOutOfReach() {
    Electorate two = electorate(List.of("a", "b"), List.of("a", "b", "c", "d", "e"), null);
    assertThat(votes(two, "ab", "").won()).isFalse();
    assertThat(votes(two, "ab", "").lost()).isTrue();
    assertThat(votes(two, "", "").unreachable()).isTrue();
    assertThat(votes(electorate(ABC, ALL.subList(0, 5), null), "abc", "").won()).isTrue();
  }

  @Test
  void changeNeedsAMajorityOfBothSets() {
    Electorate both = electorate(ALL, ABC, DEF);
    assertThat(votes(both, "abc", "").won()).isFalse();
    assertThat(votes(both, "def", "").won()).isFalse();
    assertThat(votes(both, "abde", "").won()).isTrue();
    assertThat(votes(both, "abc", "de").lost()).isTrue();
    assertThat(votes(both, "abd", "").decided()).isFalse();
    assertThat(votes(electorate(ABC, ABC, DEF), "abc", "").lost()).isTrue();
  }

  @Test
  void nodeOfBothSetsCountsInBoth() {
    Electorate one = electorate(List.of("a", "b", "c", "d"), ABC, List.of("b", "c", "d"));
    assertThat(votes(one, "bc", "").won()).isTrue();
    assertThat(votes(one, "ab", "").won()).isFalse();
  }

  @Test
  void tokenIsSettledWhenItStandsAtBothMajorities() {
    Electorate both = electorate(ALL, ABC, DEF);
    assertThat(TokenSettlement.of(new long[] {7, 7, 0, 7, 7, 0}, both).settled()).isTrue();
    assertThat(TokenSettlement.of(new long[] {7, 7, 7, 7, 6, 0}, both))
        .isEqualTo(new TokenSettlement(false, 7));
  }

  @Test
  void entryIsKeptForAsLongAsBothMajoritiesKeepIt() {
    assertThat(electorate(ALL, ABC, DEF).keptByMajority(new long[] {9, 8, 1, 5, 4, 0}))
        .isEqualTo(4);
    assertThat(electorate(List.of("a", "b"), ABC, null).keptByMajority(new long[] {9, 8}))
        .isEqualTo(8);
    assertThat(electorate(List.of("a"), ABC, null).keptByMajority(new long[] {9})).isZero();
  }

  @Test
  void nodeThatIsNotKnownYetMayBeTheMemberThatIsMissing() {
    List<Seat> seats = new ArrayList<>();
    seats.add(new Seat("seen", "a", NodeStatus.voting("a")));
    seats.add(Seat.unknown(NodeStatus.unreachable("")));
    seats.add(Seat.unknown(NodeStatus.unreachable("")));
    Electorate electorate =
        Electorate.of(seats, new FleetRecord("f", 3, 0, ABC, "a", "a", 0, FleetRecord.VOTING));
    Set<Integer> silent = Set.of(1, 2);
    assertThat(electorate.tally(node -> silent.contains(node) ? null : Vote.YES).decided())
        .isFalse();
  }

  @Test
  void noMoreNodesHaveAPlaceThanThereArePlaces() {
    Seat unknown = Seat.unknown(NodeStatus.unreachable(""));
    Seat member = new Seat("seen", "a", NodeStatus.voting("a"));
    FleetRecord fleet = new FleetRecord("f", 3, 0, ABC, "a", "a", 0, FleetRecord.VOTING);

    Electorate five = Electorate.of(List.of(member, unknown, unknown, unknown, unknown), fleet);
    assertThat(five.tally(node -> null)).isEqualTo(new Tally(3, 0, 0, 0));
    assertThat(five.tally(node -> node == 3 ? Vote.YES : null).yes()).isZero();
    // An address that leads to a member which has its vote through another one.
    Electorate twin =
        Electorate.of(
            List.of(member.barred(NodeStatus.unreachable("")), member, unknown, unknown), fleet);
    assertThat(twin.tally(node -> node == 1 ? Vote.YES : Vote.NO)).isEqualTo(new Tally(3, 1, 2, 0));
    assertThat(twin.tally(node -> node == 3 ? Vote.NO : null).no()).isZero();
  }

  @Test
  void votesAreCountedByWhatTheySay() {
    Electorate three = electorate(ABC, ABC, null);
    Vote[] votes = {Vote.YES, Vote.NO, Vote.FAULT};
    assertThat(three.tally(node -> votes[node])).isEqualTo(new Tally(3, 1, 1, 1));
    assertThat(three.tally(node -> Vote.FAULT)).isEqualTo(new Tally(3, 0, 0, 3));
    assertThat(electorate(List.of("a"), ABC, null).tally(node -> Vote.FAULT))
        .isEqualTo(new Tally(3, 0, 0, 3));
    assertThat(Electorate.ofUnknown(2).tally(node -> votes[node])).isEqualTo(new Tally(2, 1, 1, 0));
  }

  @Test
  void quorumIsThatOfTheLargerSet() {
    assertThat(electorate(ABC, ABC, null).quorum()).isEqualTo(2);
    assertThat(electorate(ALL, ABC, ALL.subList(0, 5)).quorum()).isEqualTo(3);
    assertThat(electorate(ALL, ALL.subList(0, 5), ABC).quorum()).isEqualTo(3);
  }

  @Test
  void floorIsThatOfTheFleetsRecord() {
    assertThat(electorate(ABC, ABC, null).floor()).isEqualTo(9);
    assertThat(Electorate.ofUnknown(3).floor()).isZero();
  }

  @Test
  void lookThatDoesNotFindTheFleetLeavesItsSets() {
    Electorate before = electorate(ALL, ABC, DEF);
    FleetPlan.Client client = new FleetPlan.Client(ALL, null, false, 0, false);
    List<NodeStatus> silent = new ArrayList<>();
    ALL.forEach(id -> silent.add(NodeStatus.unreachable("")));
    FleetPlan nothing = FleetPlan.of(client, silent, before.seats(), "f 3");

    Electorate after = before.after(nothing);
    assertThat(after.floor()).isEqualTo(9);
    assertThat(votes(after, "abc", "").won()).isFalse();
    assertThat(votes(after, "abde", "").won()).isTrue();

    FleetBed bed = new FleetBed();
    FleetPlan found = bed.user(bed.server("a"), bed.server("b"), bed.server("c")).settle();
    assertThat(Electorate.ofUnknown(3).after(found).quorum()).isEqualTo(2);
    assertThat(before.after(found).floor()).isZero();
  }
}
