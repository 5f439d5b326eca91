package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.OwnerValue;
import dev.lukko.testkit.SoleFleet;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** What a node tells of itself and of a resource; how a store that forgets is let in again. */
interface StatusRules extends ContractRules {

  @Test
  default void shouldHaveANameAndAnIdentityThatIsTheSameForTheSameStore() throws Exception {
    assertThat(node().name()).isNotBlank();
    NodeStatus status = SoleFleet.status(node());
    assertThat(status.state()).isEqualTo(State.VOTING);
    assertThat(status.identity()).isPresent();
    assertThat(Ask.answer(openNode().status()).identity()).isEqualTo(status.identity());
  }

  @Test
  default void shouldTellAnIdentityOfTheStoreAndNotTheNodesName() {
    NodeStatus status = SoleFleet.status(node());
    assertThat(status.traits())
        .as("the default of status() knows no identity but the name")
        .doesNotContain(NodeStatus.Trait.UNIDENTIFIED);
    assertThat(status.identity().orElseThrow())
        .as("one store under two names would be two votes")
        .isNotEqualTo(node().name());
  }

  @Test
  default void shouldTellOneIdentityThoughTheStoreHasTwoNames() throws Exception {
    require(StoreTrait.NAMES_NODES);
    try (LockNode one = store().openNode("one");
        LockNode other = store().openNode("other")) {
      assertThat(one.name()).isEqualTo("one");
      assertThat(SoleFleet.status(one).identity())
          .isPresent()
          .isEqualTo(SoleFleet.status(other).identity());
    }
  }

  @Test
  default void shouldTellNothingOfAResourceThatNobodyHasHeld() {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    Ask.release(node(), entry);
    Ask.extend(node(), entry);
    Ask.confirm(node(), entry, 5);
    Inspection inspection = Ask.inspect(node(), resource);
    assertThat(inspection.holders()).isEmpty();
    assertThat(inspection.counter()).isEmpty();
    assertThat(inspection.ownerFingerprints()).isEmpty();
  }

  @Test
  default void shouldTellTheHolderWithoutItsSecret() {
    require(StoreTrait.TELLS_HOLDER);
    String resource = fresh("r");
    Instant since = Instant.parse("2026-01-31T12:00:00.5Z");
    String owner = OwnerValue.create(new SecureRandom(), since, "4711@web-1 billing");
    String secret = owner.substring(0, owner.indexOf(' '));
    Ask.granted(node(), exclusive(owner, resource), 500);

    var refused = Ask.refused(node(), exclusive(fresh("other"), resource), 1);
    assertThat(refused.holder().description()).isEqualTo("4711@web-1 billing");
    assertThat(refused.holder().since()).hasValue(since);
    assertThat(refused.toString()).doesNotContain(secret);

    Inspection inspection = Ask.inspect(node(), resource);
    assertThat(inspection.holders()).hasSize(1);
    assertThat(inspection.counter()).hasValue(500);
    assertThat(inspection.ownerFingerprints()).containsExactly(OwnerValue.fingerprint(owner));
    assertThat(inspection.toString()).doesNotContain(secret);
    Ask.released(node(), exclusive(owner, resource));
    assertThat(Ask.inspect(node(), resource).holders()).isEmpty();
    assertThat(Ask.inspect(node(), resource).counter()).hasValue(500);
  }

  @Test
  default void shouldNotVoteAfterItHasForgottenUntilItIsAdmitted() throws Exception {
    require(StoreTrait.FORGETS);
    String resource = fresh("r");
    Ask.granted(node(), exclusive(fresh("owner"), resource), 500);
    store().forget();
    LockEntry next = exclusive(fresh("next"), resource);
    assertThat(Ask.grant(node(), next, 1)).isInstanceOf(NotVoting.class);
    NodeStatus seen = SoleFleet.status(node());
    assertThat(seen.awaitsAdmission()).isTrue();
    assertThat(SoleFleet.admit(node(), seen, 0).state()).isEqualTo(State.VOTING);
    assertThat(Ask.grant(node(), next, 1)).isInstanceOf(Granted.class);
  }

  @Test
  default void shouldSettleAndRepairInTheEpochOfTheGrantOnly() {
    require(StoreTrait.FORGETS);
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    Ask.granted(node(), entry, 500);
    LockEntry before = SoleFleet.seen(node(), entry);
    SoleFleet.raise(node(), 0);
    assertThat(Ask.confirm(node(), before, 501)).isInstanceOf(NotVoting.class);
    assertThat(Ask.repair(node(), before, 502)).isInstanceOf(NotVoting.class);
    assertThat(Ask.counter(node(), entry.resources().get(0))).isEqualTo(500);
    LockEntry now = SoleFleet.seen(node(), entry);
    assertThat(Ask.confirm(node(), now, 501)).isInstanceOf(ConfirmReply.Confirmed.class);
    assertThat(Ask.repair(node(), now, 502)).isInstanceOf(ExtendReply.Extended.class);
  }

  @Test
  default void shouldGiveNoReaderANumberThatIsNotAboveTheFloor() {
    require(StoreTrait.FORGETS);
    require(Capability.SHARED);
    String resource = fresh("r");
    Ask.granted(node(), Ask.shared(fresh("one"), resource), 500);
    assertThat(Ask.granted(node(), Ask.shared(fresh("two"), resource), 501)).isEqualTo(500);
    SoleFleet.raise(node(), 500);
    assertThat(Ask.granted(node(), Ask.shared(fresh("three"), resource), 501)).isEqualTo(501);
    assertThat(Ask.granted(node(), Ask.shared(fresh("four"), resource), 502)).isEqualTo(501);
  }

  @Test
  default void shouldTellANumberThatNoCounterIsAbove() {
    require(StoreTrait.FORGETS);
    for (int i = 0; i < 3; i++) {
      Ask.granted(node(), exclusive(fresh("owner"), fresh("r")), 700 - i);
    }
    Ask.granted(node(), Ask.shared(fresh("reader"), fresh("r")), 800);
    assertThat(Ask.answer(node().highestCounter())).isGreaterThanOrEqualTo(800);
  }

  @Test
  default void shouldVoteWhenItsQuarantineIsOverAndNotEarlier() throws Exception {
    require(StoreTrait.FORGETS);
    store().forget();
    NodeStatus seen = SoleFleet.status(node());
    NodeStatus quarantined = SoleFleet.admit(node(), seen, Ask.LONG_MILLIS);
    assertThat(quarantined.state()).isEqualTo(State.QUARANTINED);
    assertThat(quarantined.remaining())
        .isPositive()
        .isLessThanOrEqualTo(Duration.ofMillis(Ask.LONG_MILLIS + 1)); // a store may round up
    LockNode another = openNode();
    assertThat(SoleFleet.admit(another, seen, 0).state())
        .as("the first one decided")
        .isEqualTo(State.QUARANTINED);
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    assertThat(Ask.grant(another, entry, 1)).isInstanceOf(NotVoting.class);
    store().forget();
    SoleFleet.admit(node(), SoleFleet.status(node()), Ask.BRIEF_MILLIS);
    if (has(StoreTrait.MOVES_CLOCK)) {
      store().moveClock(Duration.ofMillis(Ask.BRIEF_MILLIS));
    }
    await("the end of the quarantine", () -> Ask.grant(node(), entry, 1) instanceof Granted);
  }
}
