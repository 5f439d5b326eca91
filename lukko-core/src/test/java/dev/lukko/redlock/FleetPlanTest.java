package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.redlock.FleetBed.Server;
import dev.lukko.redlock.FleetBed.User;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeStatus.State;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose votes count for whom, after all that can become of servers, addresses and clients. */
class FleetPlanTest {
  private final FleetBed bed = new FleetBed();
  private final Server a = bed.server("a");
  private final Server b = bed.server("b");
  private final Server c = bed.server("c");
  private final Server d = bed.server("d");
  private final Server e = bed.server("e");

  private FleetRecord recordAt(Server server, User user) {
    String[] words = user.key.split(" ");
    return Objects.requireNonNull(server.record(words[0], Integer.parseInt(words[1])));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void newServersVoteAtOnceAndSayItInOneLine(int nodes) {
    Server[] servers = List.of(a, b, c, d, e).subList(0, nodes).toArray(Server[]::new);
    User user = bed.user(servers);
    user.settle();
    assertThat(user.votes()).isEqualTo(nodes);
    assertThat(user.notes).singleElement().asString().contains("new deployment");
    List<Server> turned = new ArrayList<>(List.of(servers));
    Collections.reverse(turned);
    User next = bed.user(turned.toArray(Server[]::new));
    assertThat(next.look().hasChanges()).isFalse();
    assertThat(next.votes()).isEqualTo(nodes);
    assertThat(next.key).isEqualTo(user.key);
  }

  @Test
  void newServersOfAStrictClientWait() {
    User user = bed.strict(a, b, c);
    user.settle();
    assertThat(user.votes()).isZero();
    bed.nowMillis += FleetBed.QUARANTINE;
    assertThat(user.votes()).isEqualTo(3);
  }

  @Test
  void twoFirstClientsOfWhichOneLacksAServerMakeOneFleet() {
    User one = bed.user(a, b, c);
    User two = bed.user(a, b, c);
    two.addresses.set(2, null);
    FleetPlan ofOne = one.look();
    FleetPlan ofTwo = two.look();
    one.apply(ofOne, 0);
    two.apply(ofTwo, 0);
    two.apply(ofTwo, 1);
    one.apply(ofOne, 1);
    one.apply(ofOne, 2);
    two.addresses.set(2, c);
    one.settle();
    two.settle();
    assertThat(one.key).isEqualTo(two.key);
    assertThat(one.votes()).isEqualTo(two.votes()).isGreaterThanOrEqualTo(2);
  }

  @Test
  void twoFirstClientsOfTwoServersThatDividedThemFindTogether() {
    User one = bed.user(a, b);
    User two = bed.named("late", a, b);
    one.apply(one.look(), 0);
    two.apply(two.look(), 1);
    User unnamed = bed.user(a, b);
    unnamed.settle();
    two.settle();
    assertThat(two.votes()).isEqualTo(2);
    assertThat(unnamed.votes()).isEqualTo(2);
  }

  @Test
  void aNeighbourWithOneNodeDoesNotEndAQuarantine() {
    User three = bed.user(a, b, c);
    three.settle();
    a.restartEmpty();
    User neighbour = bed.user(a);
    neighbour.settle();
    assertThat(neighbour.votes()).isEqualTo(1);
    User other = bed.user(a, b, c);
    other.settle();
    three.settle();
    assertThat(other.votes()).isEqualTo(2);
    assertThat(three.votes()).isEqualTo(2);
    assertThat(other.seats.get(0).status().state()).isEqualTo(State.QUARANTINED);
    bed.nowMillis += FleetBed.QUARANTINE;
    assertThat(other.votes()).isEqualTo(3);
  }

  @Test
  void aLaxNeighbourWithFewerOrOtherNodesDoesNotEndAQuarantine() {
    User strict = bed.strict(a, b, c);
    strict.settle();
    bed.nowMillis += FleetBed.QUARANTINE;
    a.restartEmpty();
    bed.user(a, d).settle();
    bed.user(a, d, e).settle();
    bed.user(a).settle();
    bed.named("x", a, d, e).settle();
    strict.settle();
    assertThat(strict.votes()).isEqualTo(2);
  }

  @Test
  void twoServersThatShareOneWithAnotherFleetOfTheSameSizeKeepTheirVotes() {
    User one = bed.user(a, b, c);
    one.settle();
    User other = bed.user(c, d, e);
    other.settle();
    assertThat(other.votes()).isEqualTo(3);
    one.settle();
    assertThat(one.votes()).as("a and b, whatever became of c").isGreaterThanOrEqualTo(2);
    assertThat(one.key).isNotEqualTo(other.key);
    assertThat(one.look().overlaps()).isNotEmpty();
  }

  @Test
  void aServerThatAnswersThroughAnotherAddressHasNoVoteThroughItsOwnSilentOne() {
    User user = bed.user(a, b, c);
    user.settle();
    user.addresses.set(1, c);
    user.addresses.set(2, null);
    user.settle();
    user.addresses.set(2, c);
    assertThat(user.votes()).isEqualTo(2);
  }

  @Test
  void aServerThatRestartsDuringALookIsNotTakenForTwo() {
    bed.user(a, b, c).settle();
    b.restartEmpty();
    User misled = bed.user(b, b, c);
    FleetPlan first = misled.look(b::restartEmpty);
    assertThat(first.hasChanges()).isFalse();
    assertThat(first.looksAgain()).isTrue();
    misled.settle();
    assertThat(misled.votes()).isLessThan(2);
  }

  @Test
  void aMajorityOfServersThatRestartedIsSeenTwiceBeforeItVotes() {
    User user = bed.user(a, b, c);
    user.settle();
    b.restart();
    c.restart();
    assertThat(user.look(() -> {}).hasChanges()).isFalse();
    assertThat(user.look(() -> {}).hasChanges()).isTrue();
    user.settle();
    assertThat(user.votes()).isEqualTo(3);
  }

  @Test
  void anAddressThatLeadsToAnotherMemberHasNoVoteAndIsNoReasonForANewDeployment() {
    User holder = bed.user(a, b, c);
    holder.settle();
    User lost = bed.user(a, b, c);
    lost.settle();
    b.restartEmpty();
    lost.addresses.set(0, b);
    FleetPlan plan = lost.settle();
    assertThat(plan.note()).isEmpty();
    assertThat(lost.votes()).as("of c").isEqualTo(1);
    assertThat(plan.seats()).filteredOn(seat -> seat.status().state() == State.UNFIT).hasSize(1);
    lost.addresses.set(0, a);
    holder.settle();
    lost.settle();
    assertThat(lost.votes()).isEqualTo(2);
  }

  @Test
  void aServerThatIsACopyOfAMemberHasNoVoteBesidesIt() {
    User user = bed.user(a, b, c);
    user.settle();
    d.directory = a.directory;
    User other = bed.user(a, d, c);
    other.settle();
    assertThat(other.votes()).isEqualTo(2);
    assertThat(other.seats.get(1).status().detail()).contains("vote twice");
  }

  @Test
  void anEmptyServerGetsThePlaceOfTheMissingMemberInTheNextEpochAfterAQuarantine() {
    User user = bed.user(a, b, c);
    user.settle();
    FleetRecord before = recordAt(a, user);
    b.restartEmpty();
    User blind = bed.user(a, b, c);
    blind.settle();
    FleetRecord after = recordAt(b, blind);
    assertThat(after.epoch()).isEqualTo(before.epoch() + 1);
    assertThat(after.members()).hasSize(3).isNotEqualTo(before.members());
    assertThat(recordAt(a, blind).ofAll()).isEqualTo(after.ofAll());
    assertThat(recordAt(c, blind).ofAll()).isEqualTo(after.ofAll());
    assertThat(user.votes()).as("of one who has not looked again").isZero();
    user.settle();
    assertThat(user.votes()).isEqualTo(2);
    bed.nowMillis += FleetBed.QUARANTINE;
    assertThat(user.votes()).isEqualTo(3);
  }

  @Test
  void aFlushedServerComesBackUnderItsOldIdAfterAQuarantine() {
    User user = bed.user(a, b, c);
    user.settle();
    FleetRecord before = recordAt(b, user);
    b.directory = new TreeMap<>();
    user.settle();
    assertThat(recordAt(b, user).seen()).isEqualTo(before.seen());
    assertThat(user.votes()).isEqualTo(2);
  }

  @Test
  void aServerThatIsRestartedWithItsDataIsQuarantinedAloneAndVotesAtOnceWithTheOthers() {
    User user = bed.user(a, b, c);
    user.settle();
    b.restart();
    user.settle();
    assertThat(user.votes()).isEqualTo(2);
    a.restart();
    b.restart();
    c.restart();
    user.settle();
    assertThat(user.votes()).isEqualTo(3);
  }

  @Test
  void aMajorityThatForgetsIsANewDeploymentForAllOfItsClients() {
    User old = bed.user(a, b, c);
    old.settle();
    a.restartEmpty();
    b.restartEmpty();
    User fresh = bed.user(a, b, c);
    fresh.settle();
    old.settle();
    assertThat(fresh.votes()).isEqualTo(3);
    assertThat(old.votes()).isEqualTo(3);
    assertThat(fresh.look().overlaps()).as("the rest of the former fleet").isEmpty();
  }

  @Test
  void aNodeThatWasDownAtTheFoundationComesInLater() {
    User user = bed.user(a, b, c);
    user.addresses.set(2, null);
    user.settle();
    assertThat(user.votes()).isEqualTo(2);
    user.addresses.set(2, c);
    user.settle();
    bed.nowMillis += FleetBed.QUARANTINE;
    assertThat(user.votes()).isEqualTo(3);
  }

  @Test
  void nothingIsFoundedWhileTooManyAreOutOfReach() {
    User user = bed.user(a, b, c);
    user.addresses.set(1, null);
    user.addresses.set(2, null);
    user.settle();
    assertThat(user.votes()).isZero();
    assertThat(a.directory).isEmpty();
  }

  @Test
  void whoListsMoreNodesFollowsTheFleetOfMostOfThemAndIsToldSo() {
    User three = bed.user(a, b, c);
    three.settle();
    User five = bed.user(a, b, c, d, e);
    FleetPlan plan = five.settle();
    assertThat(five.key).isEqualTo(three.key);
    assertThat(five.votes()).as("d and e have none").isEqualTo(3);
    assertThat(plan.overlaps()).isEmpty();
    FleetPlan.Difference difference = Objects.requireNonNull(plan.difference());
    assertThat(difference.surplus()).containsExactly("address-3", "address-4");
    assertThat(difference.describe()).contains("lists 5 nodes").contains("of 3 nodes");
    five.addresses.set(0, null);
    five.addresses.set(1, null);
    five.settle();
    assertThat(five.wins()).as("by c, d and e").isFalse();
    assertThat(three.look().difference()).isNull();
  }

  @Test
  void whoListsFewerNodesFollowsTheFleetOfWhichTheyAreAMajority() {
    bed.user(a, b, c, d, e).settle();
    User three = bed.user(a, b, c);
    FleetPlan plan = three.settle();
    assertThat(three.wins()).isTrue();
    assertThat(Objects.requireNonNull(plan.difference()).lacking()).hasSize(2);
    User two = bed.user(a, b);
    assertThat(two.settle().overlaps()).as("another fleet").hasSize(2);
    FleetPlan one = bed.user(c).settle();
    assertThat(one.overlaps().get(0).describe()).contains("list all 5 nodes");
  }

  @Test
  void whoListsMoreNodesGivesNobodysPlaceAway() {
    User three = bed.user(a, b, c);
    three.settle();
    User five = bed.user(a, b, c, d, e);
    five.addresses.set(2, null);
    five.settle();
    assertThat(recordAt(a, three).epoch()).isZero();
    assertThat(five.votes()).isEqualTo(2);
    a.restartEmpty();
    five.settle();
    assertThat(five.votes()).as("one that forgot does not vote at once").isEqualTo(1);
    bed.nowMillis += FleetBed.QUARANTINE;
    assertThat(five.wins()).isFalse();
  }

  @Test
  void nodesOfTwoFleetsOfTheSameSizeNeedAName() {
    bed.named("one", a, b, c).settle();
    bed.named("two", a, b, c).settle();
    FleetPlan plan = bed.user(a, b, c).look();
    assertThat(plan.ambiguity()).contains("one and two").contains("fleet(...)");
    User named = bed.named("two", a, b, c);
    named.settle();
    assertThat(named.votes()).isEqualTo(3);
  }

  @Test
  void recordsOfOtherNodesUnderTheSameNameDoNotEndAFleet() {
    User ours = bed.named("f", a, b, c);
    ours.settle();
    User theirs = bed.named("f", c, d, e);
    theirs.settle();
    ours.settle();
    assertThat(ours.votes()).isEqualTo(2);
    assertThat(ours.seats.get(2).status().detail()).contains("another set of nodes");
    bed.nowMillis += FleetBed.QUARANTINE;
    assertThat(ours.votes()).isEqualTo(2);
  }

  @Test
  void ofTwoClientsWithDifferentServersForOnePlaceOneGetsItAndTheOtherDoesNotTakeItBack() {
    User one = bed.user(a, b, c);
    User two = bed.user(a, b, c);
    one.settle();
    two.settle();
    one.addresses.set(1, d);
    two.addresses.set(1, e);
    FleetPlan ofOne = one.look();
    FleetPlan ofTwo = two.look();
    for (int i = 0; i < 3; i++) {
      one.apply(ofOne, i);
      two.apply(ofTwo, i);
    }
    for (int round = 0; round < 4; round++) {
      one.settle();
      two.settle();
    }
    bed.nowMillis += FleetBed.QUARANTINE;
    assertThat(one.votes() + two.votes()).isEqualTo(5);
    assertThat(bed.majorities(List.of(a, b, c, d, e)).values()).allMatch(sets -> sets.size() == 1);
  }

  @Test
  void aChangeThatEndedHalfWayIsFinishedByAnyOtherClient() {
    User one = bed.user(a, b, c);
    one.settle();
    b.restartEmpty();
    FleetPlan begun = one.look();
    for (int i = 0; i < 3; i++) {
      one.apply(begun, i); // and it is never seen again
    }
    User two = bed.user(a, b, c);
    two.settle();
    assertThat(two.votes()).isEqualTo(2);
    bed.nowMillis += FleetBed.QUARANTINE;
    assertThat(two.votes()).isEqualTo(3);
  }

  /**
   * Clients look and change in any order, late and half-way, over addresses that fail and lead
   * elsewhere, while servers forget one at a time: no fleet ever has two sets of members that both
   * have a majority of votes.
   */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5})
  void noFleetHasTwoMajoritiesWhateverHappens(int nodes) {
    for (long seed = 1; seed <= 1_000; seed++) {
      check(nodes, seed);
    }
  }

  private void check(int nodes, long seed) {
    Random random = new Random(seed * 31 + nodes);
    FleetBed world = new FleetBed();
    List<Server> servers = new ArrayList<>();
    for (int i = 0; i < nodes + 2; i++) {
      servers.add(world.server("s" + i));
    }
    List<User> users = new ArrayList<>();
    List<FleetPlan> plans = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      users.add(world.named("f", servers.subList(0, nodes).toArray(Server[]::new)));
    }
    users.get(0).settle();
    users.forEach(user -> plans.add(user.look()));
    for (int step = 0; step < 60; step++) {
      int who = random.nextInt(users.size());
      User user = users.get(who);
      int node = random.nextInt(nodes);
      int draw = random.nextInt(100);
      if (draw < 35) {
        FleetPlan plan = user.look();
        if (plan.note().isEmpty()) {
          plans.set(who, plan); // Addresses that lead to new servers by majority are a new fleet.
        }
      } else if (draw < 75) {
        user.apply(plans.get(who), node);
      } else if (draw < 83) {
        user.addresses.set(node, null);
      } else if (draw < 93) {
        user.addresses.set(node, servers.get(node));
      } else if (draw < 96) {
        user.addresses.set(node, servers.get(random.nextInt(servers.size())));
      } else if (draw < 98) {
        world.nowMillis += FleetBed.QUARANTINE / 3;
      } else if (mayForget(world, servers, nodes)) {
        servers.get(node).restartEmpty();
      }
      assertThat(world.majorities(servers).values())
          .as("nodes %d, seed %d, step %d", nodes, seed, step)
          .allMatch(sets -> sets.size() == 1);
    }
  }

  /** Only if a majority of those that have votes goes on. */
  private static boolean mayForget(FleetBed world, List<Server> servers, int nodes) {
    long voting =
        servers.stream()
            .filter(
                server ->
                    server.directory.values().stream()
                        .flatMap(text -> FleetRecord.parse(text).stream())
                        .anyMatch(record -> server.votesFor(record.seen())))
            .count();
    return !world.majorities(servers).isEmpty() && voting > Tally.quorumOf(nodes);
  }
}
