package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static dev.lukko.testkit.contract.Ask.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import org.junit.jupiter.api.Test;

/** Readers hold together and exclude writers. */
interface SharedRules extends ContractRules {

  @Test
  default void shouldGrantToReadersTogetherByOneNumber() {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry first = shared(fresh("reader"), resource);
    assertThat(Ask.granted(node(), first, 500)).isEqualTo(500);
    assertThat(Ask.granted(node(), shared(fresh("reader"), resource), 400)).isEqualTo(500);
    assertThat(Ask.granted(node(), shared(fresh("reader"), resource), 900)).isEqualTo(500);
    assertThat(Ask.granted(node(), first, 999)).as("repeated").isEqualTo(500);
    assertThat(Ask.counter(node(), resource)).isEqualTo(500);
    if (has(StoreTrait.TELLS_HOLDER)) {
      assertThat(Ask.inspect(node(), resource).holders()).hasSize(3);
    }
  }

  @Test
  default void shouldLetAReaderJoinTheNumberOfReadersThatHaveEnded() {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry gone = shared(fresh("reader"), resource);
    Ask.granted(node(), gone, 500);
    Ask.released(node(), gone);
    assertThat(Ask.granted(node(), shared(fresh("reader"), resource), 900)).isEqualTo(500);
  }

  @Test
  default void shouldGiveNoReaderTheNumberOfAWritersGrant() {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry earlier = shared(fresh("reader"), resource);
    LockEntry writer = exclusive(fresh("writer"), resource);
    Ask.granted(node(), earlier, 500);
    Ask.released(node(), earlier);
    assertThat(Ask.granted(node(), writer, 1)).isEqualTo(501);
    Ask.released(node(), writer);
    assertThat(Ask.granted(node(), shared(fresh("reader"), resource), 1)).isEqualTo(502);
    assertThat(Ask.granted(node(), shared(fresh("reader"), resource), 900)).isEqualTo(502);
  }

  @Test
  default void shouldGiveNoReaderTheNumberOfAWritersConfirmation() {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry writer = exclusive(fresh("writer"), resource);
    Ask.granted(node(), writer, 500);
    assertThat(Ask.confirm(node(), writer, 700)).isEqualTo(new ConfirmReply.Confirmed());
    Ask.released(node(), writer);
    assertThat(Ask.granted(node(), shared(fresh("reader"), resource), 1)).isEqualTo(701);
  }

  @Test
  default void shouldNotRepairAReaderAfterTheLastMomentOfItsOwnClock() {
    require(Capability.SHARED);
    LockEntry entry = shared(fresh("reader"), fresh("r"));
    ExtendReply reply = Ask.extend(node(), entry);
    assertThat(reply).isInstanceOf(ExtendReply.Missing.class);
    long missingAt = ((ExtendReply.Missing) reply).atMillis();
    assertThat(Ask.repair(node(), entry, 500, missingAt - 1))
        .isInstanceOf(ExtendReply.Missing.class);
    Ask.granted(node(), exclusive(fresh("writer"), entry.resources().get(0)), 1);
  }

  @Test
  default void shouldGiveNoReaderTheNumberOfARepair() {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry first = shared(fresh("reader"), resource);
    LockEntry repaired = shared(fresh("reader"), resource);
    Ask.granted(node(), first, 500);
    assertThat(Ask.repair(node(), repaired, 600)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.granted(node(), shared(fresh("reader"), resource), 1)).isEqualTo(601);
    LockEntry late = shared(fresh("reader"), resource);
    assertThat(Ask.repair(node(), late, 550)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.granted(node(), shared(fresh("reader"), resource), 1))
        .as("a repair that raises nothing")
        .isEqualTo(601);
  }

  @Test
  default void shouldConfirmToAReaderWhatIsNotBelowItsOwnNumber() {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry one = shared(fresh("reader"), resource);
    LockEntry two = shared(fresh("reader"), resource);
    Ask.granted(node(), one, 500);
    assertThat(Ask.confirm(node(), one, 499)).isEqualTo(new ConfirmReply.Higher(500));
    assertThat(Ask.confirm(node(), one, 700)).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(Ask.counter(node(), resource)).isEqualTo(700);
    assertThat(Ask.granted(node(), two, 1)).isEqualTo(700);
    assertThat(Ask.confirm(node(), one, 600)).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(Ask.confirm(node(), one, 500)).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(Ask.confirm(node(), one, 499)).isEqualTo(new ConfirmReply.Higher(500));
    assertThat(Ask.confirm(node(), two, 699)).isEqualTo(new ConfirmReply.Higher(700));
    assertThat(Ask.counter(node(), resource)).isEqualTo(700);
    Ask.released(node(), two);
    assertThat(Ask.confirm(node(), two, 900)).isEqualTo(new ConfirmReply.NotHeld());
  }

  /** A writer had the number below while the reader's grant was on its way. */
  @Test
  default void shouldNotConfirmToAReaderBelowAWriter() {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry writer = exclusive(fresh("writer"), resource);
    LockEntry reader = shared(fresh("reader"), resource);
    Ask.granted(node(), writer, 500);
    Ask.released(node(), writer);
    assertThat(Ask.granted(node(), reader, 1)).isEqualTo(501);
    assertThat(Ask.confirm(node(), reader, 500)).isEqualTo(new ConfirmReply.Higher(501));
  }

  @Test
  default void shouldLetAWriterWaitForTheLastReader() throws Exception {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry one = shared(fresh("reader"), resource);
    LockEntry two = shared(fresh("reader"), resource);
    LockEntry brief = shared(fresh("reader"), resource);
    LockEntry writer = exclusive(fresh("writer"), resource);
    Ask.granted(node(), one, 1);
    Ask.grant(node(), brief, Ask.BRIEF_MILLIS, 2);
    Ask.granted(node(), two, 5);
    Ask.released(node(), one);
    assertThat(Ask.release(node(), one)).isEqualTo(new ReleaseReply.NotHeld());
    Ask.refused(node(), writer, 7);
    letExpire(brief);
    assertThat(Ask.release(node(), brief)).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(Ask.extend(node(), brief)).isInstanceOf(ExtendReply.Missing.class);
    Ask.refused(node(), writer, 7);
    Ask.released(node(), two);
    assertThat(Ask.granted(node(), writer, 7)).isEqualTo(7);
  }

  @Test
  default void shouldLetReadersWaitForTheWriter() {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry writer = exclusive(fresh("writer"), resource);
    Ask.granted(node(), writer, 500);
    LockEntry reader = shared(fresh("reader"), resource);
    assertThat(Ask.refused(node(), reader, 900).counter()).isEqualTo(500);
    assertThat(Ask.repair(node(), reader, 900)).isInstanceOf(ExtendReply.HeldByOther.class);
    Ask.released(node(), writer);
    assertThat(Ask.granted(node(), reader, 1)).isEqualTo(501);
    assertThat(Ask.repair(node(), writer, 900)).isInstanceOf(ExtendReply.HeldByOther.class);
  }

  @Test
  default void shouldConfirmExtendAndRepairForEachReader() {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry one = shared(fresh("reader"), resource);
    LockEntry two = shared(fresh("reader"), resource);
    assertThat(Ask.extend(node(), one)).isInstanceOf(ExtendReply.Missing.class);
    Ask.granted(node(), one, 500);
    assertThat(Ask.extend(node(), one)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.confirm(node(), two, 900)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(Ask.confirm(node(), one, 501)).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(Ask.repair(node(), two, 600)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.holds(node(), one)).isTrue();
    assertThat(Ask.holds(node(), two)).isTrue();
    assertThat(Ask.counter(node(), resource)).isEqualTo(600);
  }

  @Test
  default void shouldGrantToAReaderAllOfSeveralOrNone() {
    require(Capability.SHARED);
    require(StoreTrait.SEVERAL_RESOURCES);
    String free = fresh("a");
    String held = fresh("b");
    LockEntry writer = exclusive(fresh("writer"), held);
    LockEntry reader = shared(fresh("reader"), free, held);
    Ask.granted(node(), writer, 500);
    Ask.refused(node(), reader, 900);
    assertThat(Ask.release(node(), reader)).isEqualTo(new ReleaseReply.NotHeld());
    Ask.released(node(), writer);
    assertThat(Ask.grant(node(), reader, 7)).isEqualTo(new Granted(501));
    assertThat(Ask.grant(node(), reader, 900)).as("repeated").isEqualTo(new Granted(501));
    Ask.refused(node(), exclusive(fresh("writer"), free), 900);
  }

  @Test
  default void shouldGiveAReaderOfSeveralOneNumberThatNoWriterHasHad() {
    require(Capability.SHARED);
    require(StoreTrait.SEVERAL_RESOURCES);
    String low = fresh("a");
    String high = fresh("b");
    Ask.granted(node(), shared(fresh("reader"), low), 500);
    Ask.granted(node(), shared(fresh("reader"), high), 700);
    assertThat(Ask.granted(node(), shared(fresh("reader"), low, high), 900))
        .as("the higher of two that readers have")
        .isEqualTo(700);
    assertThat(Ask.granted(node(), shared(fresh("reader"), low), 900)).isEqualTo(700);
    String written = fresh("c");
    LockEntry writer = exclusive(fresh("writer"), written);
    Ask.granted(node(), writer, 700);
    Ask.released(node(), writer);
    assertThat(Ask.granted(node(), shared(fresh("reader"), low, written), 1))
        .as("the same number, which a writer has had too")
        .isEqualTo(701);
    assertThat(Ask.granted(node(), shared(fresh("reader"), low, high, written), 1))
        .as("of three, two at the highest, both a reader's")
        .isEqualTo(701);
  }
}
