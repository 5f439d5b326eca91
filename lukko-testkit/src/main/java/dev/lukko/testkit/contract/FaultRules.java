package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import dev.lukko.testkit.SoleFleet;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/**
 * Requests whose outcome nobody knows: afterwards the state is one of two, and stays it.
 *
 * <p>The faults are made for one more node, which is warm: it has its connections.
 */
interface FaultRules extends ContractRules {

  /** How many requests a hung store is sent at once. */
  int AT_ONCE = 10;

  private LockNode warmNode() throws Exception {
    LockNode warm = openNode();
    LockEntry entry = exclusive(fresh("warm"), fresh("warm"));
    Ask.granted(warm, entry, 1);
    Ask.confirm(warm, entry, 2);
    Ask.extend(warm, entry);
    Ask.released(warm, entry);
    return warm;
  }

  /** A node that answers again, after whatever happened to its connection. */
  private void awaitBack(LockNode node) throws Exception {
    LockEntry probe = exclusive(fresh("probe"), fresh("probe"));
    await(
        "the node has its store back",
        () -> {
          if (Ask.grant(node, probe, 1) instanceof NotVoting) {
            Ask.admit(node);
          }
          return Ask.grant(node, probe, 1) instanceof Granted;
        });
    Ask.release(node, probe);
  }

  @Test
  default void shouldNotKnowWhetherAGrantWasAppliedWhoseReplyIsLost() throws Exception {
    require(StoreTrait.LOSES_MESSAGES);
    LockNode faulty = warmNode();
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    store().loseReply(entry.owner());
    GrantReply reply = Ask.grant(faulty, entry, 500);
    assertThat(reply).isInstanceOf(NodeFault.class);
    LockEntry other = exclusive(fresh("other"), entry.resources().get(0));
    if (reply instanceof Unknown && Ask.holds(node(), entry)) {
      assertThat(Ask.refused(node(), other, 900).counter()).isEqualTo(500);
      assertThat(Ask.grant(node(), entry, 900)).as("repeated").isEqualTo(new Granted(500));
    }
    awaitBack(faulty);
    Ask.release(faulty, entry);
    await("the entry is gone", () -> !Ask.holds(node(), entry));
    Ask.granted(node(), other, 900);
    awaitBack(faulty);
    assertThat(Ask.holds(node(), other)).as("nothing came later").isTrue();
    assertThat(Ask.counter(node(), entry.resources().get(0))).isEqualTo(900);
  }

  @Test
  default void shouldNeverSendAGrantAgainThatWasLost() throws Exception {
    require(StoreTrait.LOSES_MESSAGES);
    LockNode faulty = warmNode();
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    store().loseRequest(entry.owner());
    assertThat(Ask.grant(faulty, entry, 500)).isInstanceOf(NodeFault.class);
    awaitBack(faulty);
    assertThat(Ask.holds(node(), entry)).isFalse();
    assertThat(Ask.granted(node(), exclusive(fresh("other"), entry.resources().get(0)), 7))
        .isEqualTo(7);
  }

  @Test
  default void shouldReleaseInTheEndThoughTheRequestOrItsReplyIsLost() throws Exception {
    require(StoreTrait.LOSES_MESSAGES);
    LockNode faulty = warmNode();
    for (boolean request : new boolean[] {true, false}) {
      LockEntry entry = exclusive(fresh("owner"), fresh("r"));
      Ask.granted(faulty, entry, 500);
      if (request) {
        store().loseRequest(entry.owner());
      } else {
        store().loseReply(entry.owner());
      }
      assertThat(Ask.release(faulty, entry)).isInstanceOf(NodeFault.class);
      await("the entry is gone, unasked", () -> !Ask.holds(node(), entry));
      assertThat(Ask.release(node(), entry)).isEqualTo(new ReleaseReply.NotHeld());
      awaitBack(faulty);
    }
  }

  @Test
  default void shouldBeInOneOfTwoStatesWhenTheReplyToAConfirmOrAnExtensionIsLost()
      throws Exception {
    require(StoreTrait.LOSES_MESSAGES);
    LockNode faulty = warmNode();
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    Ask.granted(faulty, entry, 500);
    store().loseReply(entry.owner());
    assertThat(Ask.confirm(faulty, entry, 600)).isInstanceOf(NodeFault.class);
    assertThat(Ask.counter(node(), entry.resources().get(0))).isIn(500L, 600L);
    awaitBack(faulty);
    assertThat(Ask.confirm(faulty, entry, 700)).isEqualTo(new ConfirmReply.Confirmed());

    store().loseReply(entry.owner());
    assertThat(Ask.extend(faulty, entry)).isInstanceOf(NodeFault.class);
    assertThat(Ask.holds(node(), entry)).isTrue();
    assertThat(Ask.counter(node(), entry.resources().get(0))).isEqualTo(700);
    awaitBack(faulty);
    assertThat(Ask.extend(faulty, entry)).isEqualTo(new ExtendReply.Extended());
  }

  @Test
  default void shouldCompleteEveryVerbThoughTheStoreHangs() throws Exception {
    require(StoreTrait.HANGS);
    LockNode faulty = warmNode();
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    store().hang();
    List<CompletionStage<?>> replies = new ArrayList<>();
    for (int i = 0; i < AT_ONCE; i += 5) {
      replies.add(SoleFleet.grant(faulty, new GrantRequest(entry, Ask.LONG_MILLIS, 5)));
      replies.add(faulty.confirm(entry, 9));
      replies.add(faulty.extend(entry, Ask.LONG_MILLIS));
      replies.add(faulty.release(entry));
      replies.add(
          faulty
              .inspect("r")
              .handle((found, error) -> error == null ? found : new Failed(error.toString())));
    }
    for (CompletionStage<?> reply : replies) {
      assertThat(Ask.answer(reply))
          .as("the answer to a request that a hung store never answers")
          .isInstanceOf(NodeFault.class);
    }
    assertThat(Ask.answer(faulty.status()).state()).isNotNull();
    store().resume();
    awaitBack(faulty);
  }

  @Test
  default void shouldApplyAReleaseBehindItsGrantThoughTheStoreHungAtBoth() throws Exception {
    require(StoreTrait.HANGS);
    LockNode faulty = warmNode();
    List<LockEntry> entries = new ArrayList<>();
    List<CompletionStage<?>> replies = new ArrayList<>();
    store().hang();
    for (int i = 0; i < 5; i++) {
      LockEntry entry = exclusive(fresh("owner"), fresh("r"));
      entries.add(entry);
      replies.add(SoleFleet.grant(faulty, new GrantRequest(entry, Ask.LONG_MILLIS, 5)));
      replies.add(faulty.release(entry));
    }
    for (CompletionStage<?> reply : replies) {
      Ask.answer(reply);
    }
    store().resume();
    awaitBack(faulty);
    for (LockEntry entry : entries) {
      await("the entry is gone", () -> !Ask.holds(node(), entry));
    }
    awaitBack(faulty);
    for (LockEntry entry : entries) {
      assertThat(Ask.holds(node(), entry)).as("nothing came later").isFalse();
    }
  }

  @Test
  default void shouldKeepEntriesAndCountersOverARestartOrNotVote() throws Exception {
    require(StoreTrait.RESTARTS);
    String held = fresh("r");
    String released = fresh("r");
    LockEntry holder = exclusive(fresh("holder"), held);
    LockEntry former = exclusive(fresh("former"), released);
    Ask.granted(node(), holder, 500);
    Ask.granted(node(), former, 700);
    Ask.released(node(), former);
    store().restart();
    LockNode after = openNode();
    awaitBack(after);
    GrantReply reply = Ask.grant(after, exclusive(fresh("other"), held), 900);
    assertThat(reply).isInstanceOf(Refused.class);
    assertThat(Ask.granted(after, exclusive(fresh("next"), released), 1)).isEqualTo(701);
    awaitBack(node());
    assertThat(Ask.extend(node(), holder)).isEqualTo(new ExtendReply.Extended());
    Ask.released(node(), holder);
    assertThat(Ask.granted(node(), exclusive(fresh("next"), held), 1)).isEqualTo(501);
  }
}
