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
import java.util.List;
import java.util.TimeZone;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** How long an entry lives, by the store's clock alone; who may prolong it. */
interface ExtendRules extends ContractRules {

  /** What a clock says that is sixty years ahead, in microseconds since 1970. */
  long FAR_AHEAD_MICROS = 3_600_000_000_000_000L;

  @Test
  default void shouldNeverCreateByExtending() throws Exception {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    assertThat(Ask.extend(node(), entry)).isInstanceOf(ExtendReply.Missing.class);
    assertThat(Ask.holds(node(), entry)).isFalse();

    Ask.granted(node(), entry, 500);
    Ask.released(node(), entry);
    assertThat(Ask.extend(node(), entry)).isInstanceOf(ExtendReply.Missing.class);
    assertThat(Ask.holds(node(), entry)).isFalse();

    Ask.grant(node(), entry, Ask.BRIEF_MILLIS, 500);
    letExpire(entry);
    assertThat(Ask.extend(node(), entry)).isInstanceOf(ExtendReply.Missing.class);
    Ask.granted(node(), exclusive(fresh("next"), resource), 1);
  }

  @Test
  default void shouldExtendFromNowOnForTheHolderAlone() {
    require(StoreTrait.TELLS_HOLDER);
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    LockEntry other = exclusive(fresh("other"), resource);
    Ask.granted(node(), entry, 500);
    assertThat(Ask.answer(node().extend(entry, 10 * Ask.LONG_MILLIS)))
        .isEqualTo(new ExtendReply.Extended());
    assertThat(remaining(other)).isGreaterThan(Duration.ofMillis(Ask.LONG_MILLIS));
    assertThat(Ask.extend(node(), other)).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(remaining(other)).isGreaterThan(Duration.ofMillis(Ask.LONG_MILLIS));
    assertThat(Ask.extend(node(), entry)).isEqualTo(new ExtendReply.Extended());
    assertThat(remaining(other)).isLessThanOrEqualTo(Duration.ofMillis(Ask.LONG_MILLIS));
    assertThat(Ask.counter(node(), resource)).isEqualTo(500);
  }

  private Duration remaining(LockEntry other) {
    return Ask.refused(node(), other, 1).holder().remaining().orElseThrow();
  }

  @Test
  default void shouldRepairWhatIsMissingAndNeverLowerTheCounter() {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    assertThat(Ask.repair(node(), entry, 500)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.holds(node(), entry)).isTrue();
    assertThat(Ask.counter(node(), resource)).isEqualTo(500);
    assertThat(Ask.grant(node(), entry, 900)).isEqualTo(new Granted(500));

    assertThat(Ask.repair(node(), entry, 300)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.counter(node(), resource)).isEqualTo(500);
    assertThat(Ask.repair(node(), entry, 600)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.counter(node(), resource)).isEqualTo(600);
  }

  @Test
  default void shouldNotRepairAfterTheLastMomentOfItsOwnClock() {
    for (LockEntry entry :
        has(StoreTrait.SEVERAL_RESOURCES)
            ? List.of(
                exclusive(fresh("owner"), fresh("r")),
                exclusive(fresh("owner"), fresh("r"), fresh("s")))
            : List.of(exclusive(fresh("owner"), fresh("r")))) {
      String resource = entry.resources().get(0);
      long last = missingAt(entry) - 1;
      assertThat(Ask.repair(node(), entry, 500, last)).isInstanceOf(ExtendReply.Missing.class);
      assertThat(Ask.holds(node(), entry)).as("never granted").isFalse();
      Ask.granted(node(), entry, 700);
      Ask.released(node(), entry);

      assertThat(Ask.repair(node(), entry, 900, last)).isInstanceOf(ExtendReply.Missing.class);
      assertThat(Ask.holds(node(), entry)).as("released").isFalse();
      assertThat(Ask.counter(node(), resource)).isEqualTo(700);
      Ask.granted(node(), exclusive(fresh("next"), resource), 1);
    }
  }

  @Test
  default void shouldRepairUpToTheLastMomentOfItsOwnClock() {
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    long last = missingAt(entry) + Ask.LONG_MILLIS;
    assertThat(Ask.repair(node(), entry, 500, last)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.holds(node(), entry)).isTrue();
  }

  private long missingAt(LockEntry entry) {
    ExtendReply reply = Ask.extend(node(), entry);
    assertThat(reply).isInstanceOf(ExtendReply.Missing.class);
    return ((ExtendReply.Missing) reply).atMillis();
  }

  @Test
  default void shouldNotRepairWhatAnotherHolds() {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    Ask.granted(node(), entry, 500);
    assertThat(Ask.repair(node(), exclusive(fresh("other"), resource), 900))
        .isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(Ask.counter(node(), resource)).isEqualTo(500);
    assertThat(Ask.holds(node(), entry)).isTrue();
  }

  @Test
  default void shouldTreatAnExpiredEntryAsNoneForItsOwnOwnerToo() throws Exception {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    Ask.grant(node(), entry, Ask.BRIEF_MILLIS, 500);
    letExpire(entry);
    assertThat(Ask.extend(node(), entry)).isInstanceOf(ExtendReply.Missing.class);
    assertThat(Ask.confirm(node(), entry, 900)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(Ask.release(node(), entry)).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(Ask.granted(node(), entry, 500)).as("a new grant").isEqualTo(501);
  }

  @Test
  default void shouldLetAnEntryLiveForItsTtlAndNoLonger() throws Exception {
    require(StoreTrait.MOVES_CLOCK);
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    Ask.grant(node(), entry, 1_000, 5);
    store().moveClock(Duration.ofMillis(999));
    Ask.refused(node(), exclusive(fresh("other"), resource), 1);
    assertThat(Ask.answer(node().extend(entry, 1_000))).isEqualTo(new ExtendReply.Extended());
    store().moveClock(Duration.ofMillis(999));
    Ask.refused(node(), exclusive(fresh("other"), resource), 1);
    store().moveClock(Duration.ofMillis(1));
    assertThat(Ask.granted(node(), exclusive(fresh("other"), resource), 1)).isEqualTo(6);
  }

  @Test
  default void shouldExpireByItsOwnClockWhateverClockTheClientHas() throws Exception {
    // A client's clock shows in nothing but the proposal.
    for (long proposal : new long[] {1, FAR_AHEAD_MICROS}) {
      String resource = fresh("r");
      LockEntry entry = exclusive(fresh("owner"), resource);
      assertThat(Ask.granted(node(), entry, proposal)).isEqualTo(proposal);
      Ask.refused(node(), exclusive(fresh("other"), resource), FAR_AHEAD_MICROS + 1);
      Ask.released(node(), entry);
      LockEntry brief = exclusive(fresh("owner"), resource);
      Ask.grant(node(), brief, Ask.BRIEF_MILLIS, FAR_AHEAD_MICROS + 1);
      letExpire(brief);
      Ask.granted(node(), exclusive(fresh("next"), resource), 1);
    }
  }

  @Test
  @ResourceLock(Resources.TIME_ZONE)
  default void shouldExpireByItsOwnClockInWhateverTimeZoneTheClientIs() throws Exception {
    TimeZone before = TimeZone.getDefault();
    try {
      String resource = fresh("r");
      LockEntry entry = exclusive(fresh("owner"), resource);
      LockEntry brief = exclusive(fresh("owner"), fresh("r"));
      TimeZone.setDefault(TimeZone.getTimeZone("GMT+14"));
      Ask.granted(openNode(), entry, 500);
      Ask.grant(openNode(), brief, Ask.BRIEF_MILLIS, 5);
      TimeZone.setDefault(TimeZone.getTimeZone("GMT-12"));
      var refused = Ask.refused(openNode(), exclusive(fresh("other"), resource), 900);
      if (has(StoreTrait.TELLS_HOLDER)) {
        assertThat(refused.holder().remaining().orElseThrow())
            .isPositive()
            .isLessThanOrEqualTo(Duration.ofMillis(Ask.LONG_MILLIS));
      }
      assertThat(Ask.extend(openNode(), entry)).isEqualTo(new ExtendReply.Extended());
      letExpire(brief);
      Ask.granted(openNode(), exclusive(fresh("next"), brief.resources().get(0)), 1);
    } finally {
      TimeZone.setDefault(before);
    }
  }

  @Test
  default void shouldTakeATtlBeyondAllMeasure() {
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    assertThat(Ask.grant(node(), entry, Long.MAX_VALUE, 5)).isEqualTo(new Granted(5));
    assertThat(Ask.answer(node().extend(entry, Long.MAX_VALUE)))
        .isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.answer(node().repair(entry, Long.MAX_VALUE, 5, Long.MAX_VALUE)))
        .isEqualTo(new ExtendReply.Extended());
    Ask.refused(node(), exclusive(fresh("other"), entry.resources().get(0)), 6);
  }
}
