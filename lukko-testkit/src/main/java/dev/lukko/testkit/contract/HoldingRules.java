package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** One holder at a time: granting, refusing, releasing. */
interface HoldingRules extends ContractRules {

  @Test
  default void shouldGrantAFreeResourceAndRefuseItToOthers() throws Exception {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    assertThat(Ask.grant(node(), entry, 500)).isEqualTo(new Granted(500));
    for (int i = 0; i < 3; i++) {
      assertThat(Ask.refused(openNode(), exclusive(fresh("other"), resource), 900).counter())
          .isEqualTo(500);
    }
    assertThat(Ask.holds(node(), entry)).isTrue();
  }

  @Test
  default void shouldTellInARefusalWhoHoldsAndForHowLongAndChangeNothing() {
    require(StoreTrait.TELLS_HOLDER);
    String resource = fresh("r");
    LockEntry entry = exclusive("someone", resource);
    Ask.granted(node(), entry, 500);
    var refused = Ask.refused(node(), exclusive(fresh("other"), resource), 900);
    assertThat(refused.holder().description()).contains("someone");
    assertThat(refused.holder().remaining().orElseThrow())
        .isPositive()
        .isLessThanOrEqualTo(Duration.ofMillis(Ask.LONG_MILLIS));
    assertThat(Ask.inspect(node(), resource).holders()).hasSize(1);
    assertThat(Ask.counter(node(), resource)).isEqualTo(500);
  }

  @Test
  default void shouldAnswerARepeatedRequestOfOneOwnerAsTheFirstAndRaiseNothing() throws Exception {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    Ask.granted(node(), entry, 500);
    for (long proposal : new long[] {500, 3, 900}) {
      assertThat(Ask.grant(openNode(), entry, proposal)).isEqualTo(new Granted(500));
    }
    assertThat(Ask.counter(node(), resource)).isEqualTo(500);
    Ask.released(node(), entry);
    assertThat(Ask.granted(node(), exclusive(fresh("next"), resource), 1)).isEqualTo(501);
  }

  @Test
  default void shouldNotRaiseTheCounterForARepeatedRequestAfterAConfirm() {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    Ask.granted(node(), entry, 500);
    assertThat(Ask.confirm(node(), entry, 600)).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(Ask.granted(node(), entry, 900)).isIn(500L, 600L);
    assertThat(Ask.counter(node(), resource)).isEqualTo(600);
  }

  @Test
  default void shouldNotProlongAnEntryWhenItsOwnerAsksAgain() throws Exception {
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    Ask.grant(node(), entry, Ask.BRIEF_MILLIS, 5);
    if (Ask.grant(node(), entry, Ask.LONG_MILLIS, 9).equals(new Granted(5))) {
      letExpire(entry);
    } // else it had expired between the two, and the second one was a new grant
  }

  @Test
  default void shouldReleaseOnceAndSaySoAfterwards() throws Exception {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    assertThat(Ask.release(node(), entry)).as("never held").isEqualTo(new ReleaseReply.NotHeld());
    Ask.granted(node(), entry, 500);
    assertThat(Ask.release(node(), entry)).isInstanceOf(ReleaseReply.Released.class);
    for (int i = 0; i < 3; i++) {
      assertThat(Ask.release(openNode(), entry)).isEqualTo(new ReleaseReply.NotHeld());
    }
    assertThat(Ask.holds(node(), entry)).isFalse();
    assertThat(Ask.granted(node(), exclusive(fresh("next"), resource), 1)).isEqualTo(501);
  }

  @Test
  default void shouldReleaseByAnyNodeOfTheStore() throws Exception {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    Ask.granted(node(), entry, 500);
    Ask.released(openNode(), entry);
    Ask.granted(node(), exclusive(fresh("next"), resource), 1);
  }

  @Test
  default void shouldLetNobodyReleaseWhatAnotherHolds() {
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    Ask.granted(node(), entry, 500);
    assertThat(Ask.release(node(), exclusive(fresh("other"), entry.resources().get(0))))
        .isEqualTo(new ReleaseReply.NotHeld());
    assertThat(Ask.holds(node(), entry)).isTrue();
    Ask.refused(node(), exclusive(fresh("another"), entry.resources().get(0)), 1);
  }

  @Test
  default void shouldLetAStaleHolderDoNothing() throws Exception {
    String resource = fresh("r");
    LockEntry stale = exclusive(fresh("stale"), resource);
    Ask.grant(node(), stale, Ask.BRIEF_MILLIS, 500);
    letExpire(stale);
    LockEntry next = exclusive(fresh("next"), resource);
    Ask.granted(node(), next, 600);

    assertThat(Ask.extend(node(), stale)).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(Ask.repair(node(), stale, 900)).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(Ask.confirm(node(), stale, 900)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(Ask.release(node(), stale)).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(Ask.refused(node(), stale, 900).counter()).isEqualTo(600);

    assertThat(Ask.grant(node(), next, 900)).isEqualTo(new Granted(600));
    Ask.released(node(), next);
  }
}
