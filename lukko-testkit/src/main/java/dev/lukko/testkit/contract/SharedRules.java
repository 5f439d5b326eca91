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
  default void shouldGrantToReadersTogetherEachWithAHigherNumber() {
    require(Capability.SHARED);
    String resource = fresh("r");
    LockEntry first = shared(fresh("reader"), resource);
    assertThat(Ask.granted(node(), first, 500)).isEqualTo(500);
    assertThat(Ask.granted(node(), shared(fresh("reader"), resource), 400)).isEqualTo(501);
    assertThat(Ask.granted(node(), shared(fresh("reader"), resource), 900)).isEqualTo(900);
    assertThat(Ask.granted(node(), first, 999)).as("repeated").isEqualTo(500);
    assertThat(Ask.counter(node(), resource)).isEqualTo(900);
    if (has(StoreTrait.TELLS_HOLDER)) {
      assertThat(Ask.inspect(node(), resource).holders()).hasSize(3);
    }
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
    assertThat(Ask.extend(node(), brief)).isEqualTo(new ExtendReply.Missing());
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
    assertThat(Ask.extend(node(), one)).isEqualTo(new ExtendReply.Missing());
    Ask.granted(node(), one, 500);
    assertThat(Ask.extend(node(), one)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.confirm(node(), two, 900)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(Ask.confirm(node(), one, 500)).isEqualTo(new ConfirmReply.Higher(500));
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
}
