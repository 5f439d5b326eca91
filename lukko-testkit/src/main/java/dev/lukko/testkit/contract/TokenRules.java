package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Counters only rise, whatever happens; what is no number is an error and not zero. */
interface TokenRules extends ContractRules {

  @Test
  default void shouldRaiseTheCounterToTheProposalOrElseByOne() {
    String resource = fresh("r");
    long[][] proposedAndGranted = {{500, 500}, {500, 501}, {3, 502}, {502, 503}, {900, 900}};
    for (long[] each : proposedAndGranted) {
      LockEntry entry = exclusive(fresh("owner"), resource);
      assertThat(Ask.granted(node(), entry, each[0])).isEqualTo(each[1]);
      Ask.released(node(), entry);
    }
  }

  @Test
  default void shouldRaiseTheCounterOverExpiry() throws Exception {
    String resource = fresh("r");
    long before = 0;
    for (int i = 0; i < 3; i++) {
      LockEntry entry = exclusive(fresh("owner"), resource);
      GrantReply reply = Ask.grant(node(), entry, Ask.BRIEF_MILLIS, 1);
      assertThat(reply).isEqualTo(new Granted(before + 1));
      before++;
      letExpire(entry);
    }
  }

  @Test
  default void shouldKeepCountersOfResourcesApart() {
    String one = fresh("r");
    String other = fresh("r");
    Ask.granted(node(), exclusive(fresh("owner"), one), 500);
    assertThat(Ask.granted(node(), exclusive(fresh("owner"), other), 7)).isEqualTo(7);
  }

  @Test
  default void shouldBeExactUpToTheHighestCounterAndFailBeyond() {
    long max = GrantRequest.MAX_COUNTER;
    String resource = fresh("r");
    for (long[] each : new long[][] {{max - 2, max - 2}, {1, max - 1}, {max, max}}) {
      LockEntry entry = exclusive(fresh("owner"), resource);
      assertThat(Ask.granted(node(), entry, each[0])).isEqualTo(each[1]);
      Ask.released(node(), entry);
    }
    LockEntry beyond = exclusive(fresh("owner"), resource);
    assertThat(Ask.grant(node(), beyond, max)).isInstanceOf(Failed.class);
    assertThat(Ask.grant(node(), beyond, 1)).isInstanceOf(Failed.class);
    assertThat(Ask.holds(node(), beyond)).isFalse();
    assertThat(Ask.counter(node(), resource)).isEqualTo(max);
  }

  @Test
  default void shouldConfirmOnlyForTheHolderAndNothingBelowTheCounter() {
    String resource = fresh("r");
    LockEntry entry = exclusive(fresh("owner"), resource);
    LockEntry other = exclusive(fresh("other"), resource);
    assertThat(Ask.confirm(node(), entry, 900)).as("free").isEqualTo(new ConfirmReply.NotHeld());
    Ask.granted(node(), entry, 500);
    assertThat(Ask.confirm(node(), other, 900)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(Ask.confirm(node(), entry, 499)).isEqualTo(new ConfirmReply.Higher(500));
    assertThat(Ask.counter(node(), resource)).isEqualTo(500);
    assertThat(Ask.confirm(node(), entry, 500)).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(Ask.counter(node(), resource)).isEqualTo(500);
    assertThat(Ask.confirm(node(), entry, 501)).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(Ask.confirm(node(), entry, 501)).as("again").isEqualTo(new ConfirmReply.Confirmed());
    assertThat(Ask.confirm(node(), entry, 500)).isEqualTo(new ConfirmReply.Higher(501));
    assertThat(Ask.counter(node(), resource)).isEqualTo(501);
    Ask.released(node(), entry);
    assertThat(Ask.confirm(node(), entry, 900)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(Ask.granted(node(), other, 1)).isEqualTo(502);
  }

  @Test
  default void shouldNotConfirmForAnOwnerWhoseTimeIsOver() throws Exception {
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    Ask.grant(node(), entry, Ask.BRIEF_MILLIS, 500);
    letExpire(entry);
    assertThat(Ask.confirm(node(), entry, 900)).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(Ask.counter(node(), entry.resources().get(0))).isEqualTo(500);
  }

  @Test
  default void shouldReachTheProposalThoughIncrementsWereLost() throws Exception {
    require(StoreTrait.SETS_COUNTER);
    String resource = fresh("r");
    LockEntry first = exclusive(fresh("owner"), resource);
    Ask.granted(node(), first, 500);
    assertThat(store().setCounter(resource, "40")).isTrue();
    assertThat(Ask.confirm(node(), first, 501)).isEqualTo(new ConfirmReply.Confirmed());
    Ask.released(node(), first);
    assertThat(store().setCounter(resource, "40")).isTrue();
    assertThat(Ask.granted(node(), exclusive(fresh("owner"), resource), 600)).isEqualTo(600);
  }

  @Test
  default void shouldNotAnswerARepeatedRequestWithZeroWhenItsCounterIsLost() throws Exception {
    require(StoreTrait.SETS_COUNTER);
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    Ask.granted(node(), entry, 500);
    assertThat(store().setCounter(entry.resources().get(0), "0")).isTrue();
    assertThat(Ask.grant(node(), entry, 500)).isNotEqualTo(new Granted(0));
  }

  @Test
  default void shouldFailOnACounterThatIsNoNumberInRange() throws Exception {
    require(StoreTrait.SETS_COUNTER);
    int set = 0;
    for (String garbage :
        List.of("-1", "9007199254740992", "9223372036854775807", "", "x", "1.5", "1e3", " 1")) {
      String resource = fresh("r");
      LockEntry entry = exclusive(fresh("owner"), resource);
      Ask.granted(node(), entry, 500);
      if (!store().setCounter(resource, garbage)) {
        continue;
      }
      set++;
      LockEntry next = exclusive(fresh("next"), resource);
      assertThat(Ask.confirm(node(), entry, 900)).as(garbage).isInstanceOf(Failed.class);
      assertThat(Ask.repair(node(), entry, 900)).as(garbage).isInstanceOf(Failed.class);
      Ask.released(node(), entry);
      assertThat(Ask.grant(node(), next, 900)).as(garbage).isInstanceOf(Failed.class);
      assertThat(Ask.repair(node(), next, 900)).as(garbage).isInstanceOf(Failed.class);
      assertThatThrownBy(() -> node().inspect(resource).toCompletableFuture().join())
          .as(garbage)
          .isNotNull();
      assertThat(store().setCounter(resource, "500")).isTrue();
      assertThat(Ask.granted(node(), next, 1)).as("nothing was written").isEqualTo(501);
    }
    assertThat(set).as("counters that the store can hold").isPositive();
  }
}
