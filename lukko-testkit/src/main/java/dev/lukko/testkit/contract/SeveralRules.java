package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A request for several resources is applied to all of them in one step, or to none. */
interface SeveralRules extends ContractRules {

  private static String[] names() {
    String fresh = fresh("r");
    return new String[] {"a" + fresh, "b" + fresh, "c" + fresh};
  }

  @Test
  default void shouldGrantSeveralWithOneNumberAboveAll() {
    require(StoreTrait.SEVERAL_RESOURCES);
    String[] names = names();
    LockEntry before = exclusive(fresh("before"), names[1]);
    Ask.granted(node(), before, 700);
    Ask.released(node(), before);

    LockEntry entry = exclusive(fresh("owner"), names);
    assertThat(Ask.grant(node(), entry, 100)).isEqualTo(new Granted(701));
    for (String name : names) {
      assertThat(Ask.counter(node(), name)).isEqualTo(701);
      Ask.refused(node(), exclusive(fresh("other"), name), 900);
    }
    assertThat(Ask.grant(node(), entry, 900)).as("repeated").isEqualTo(new Granted(701));
    assertThat(Ask.extend(node(), entry)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.confirm(node(), entry, 700)).isEqualTo(new ConfirmReply.Higher(701));
    assertThat(Ask.confirm(node(), entry, 701)).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(Ask.confirm(node(), entry, 800)).isEqualTo(new ConfirmReply.Confirmed());
    for (String name : names) {
      assertThat(Ask.counter(node(), name)).isEqualTo(800);
    }
    Ask.released(node(), entry);
    for (String name : names) {
      assertThat(Ask.granted(node(), exclusive(fresh("next"), name), 1)).isEqualTo(801);
    }
  }

  @Test
  default void shouldGrantNoneOfSeveralIfOneIsHeld() {
    require(StoreTrait.SEVERAL_RESOURCES);
    String[] names = names();
    for (String held : List.of(names)) {
      String[] fresh = names();
      int index = List.of(names).indexOf(held);
      LockEntry holder = exclusive(fresh("holder"), fresh[index]);
      Ask.granted(node(), holder, 700);
      LockEntry entry = exclusive(fresh("owner"), fresh);
      assertThat(Ask.refused(node(), entry, 900).counter()).isEqualTo(700);
      assertThat(Ask.release(node(), entry)).isEqualTo(new ReleaseReply.NotHeld());
      for (int i = 0; i < fresh.length; i++) {
        if (i != index) {
          assertThat(Ask.granted(node(), exclusive(fresh("next"), fresh[i]), 1))
              .as("no counter was raised")
              .isEqualTo(1);
        }
      }
      assertThat(Ask.holds(node(), holder)).isTrue();
    }
  }

  @Test
  default void shouldExtendAndConfirmNoneOfSeveralIfOneIsMissing() {
    require(StoreTrait.SEVERAL_RESOURCES);
    String[] names = names();
    String owner = fresh("owner");
    LockEntry entry = exclusive(owner, names);
    Ask.granted(node(), entry, 500);
    Ask.released(node(), exclusive(owner, names[1]));

    assertThat(Ask.extend(node(), entry)).isInstanceOf(ExtendReply.Missing.class);
    assertThat(Ask.confirm(node(), entry, 900)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(Ask.holds(node(), exclusive(owner, names[1]))).isFalse();
    assertThat(Ask.counter(node(), names[0])).isEqualTo(500);

    assertThat(Ask.repair(node(), entry, 600)).isEqualTo(new ExtendReply.Extended());
    assertThat(Ask.holds(node(), entry)).isTrue();
    assertThat(Ask.counter(node(), names[0])).isEqualTo(600);
  }

  @Test
  default void shouldChangeNothingOfSeveralIfAnotherHoldsOneAndReleaseTheRest() {
    require(StoreTrait.SEVERAL_RESOURCES);
    String[] names = names();
    String owner = fresh("owner");
    LockEntry entry = exclusive(owner, names);
    Ask.granted(node(), entry, 500);
    Ask.released(node(), exclusive(owner, names[1]));
    LockEntry thief = exclusive(fresh("thief"), names[1]);
    Ask.granted(node(), thief, 700);

    assertThat(Ask.extend(node(), entry)).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(Ask.repair(node(), entry, 900)).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(Ask.confirm(node(), entry, 900)).isEqualTo(new ConfirmReply.NotHeld());
    Ask.refused(node(), entry, 900);
    assertThat(Ask.counter(node(), names[0])).isEqualTo(500);
    assertThat(Ask.counter(node(), names[1])).isEqualTo(700);

    assertThat(Ask.release(node(), entry)).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(Ask.holds(node(), thief)).isTrue();
    Ask.granted(node(), exclusive(fresh("next"), names[0]), 1);
    Ask.granted(node(), exclusive(fresh("next"), names[2]), 1);
  }

  @Test
  default void shouldSayThatSeveralWereNotHeldIfOneOfThemWasGone() {
    require(StoreTrait.SEVERAL_RESOURCES);
    String[] names = names();
    for (int i = 0; i < names.length; i++) {
      String owner = fresh("owner");
      LockEntry entry = exclusive(owner, names);
      Ask.granted(node(), entry, 500);
      Ask.released(node(), exclusive(owner, names[i]));
      assertThat(Ask.release(node(), entry)).isEqualTo(new ReleaseReply.NotHeld());
      for (String name : names) {
        assertThat(Ask.holds(node(), exclusive(owner, name))).as("%s is free", name).isFalse();
      }
    }
    LockEntry whole = exclusive(fresh("owner"), names);
    Ask.granted(node(), whole, 500);
    assertThat(Ask.release(node(), whole)).isInstanceOf(ReleaseReply.Released.class);
  }
}
