package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.SoleFleet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** What is left of a node that was closed: nothing. */
interface CloseRules extends ContractRules {

  @Test
  default void shouldAnswerAtOnceWhateverIsAskedAfterClose() throws Exception {
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    LockNode closed = openNode();
    Ask.granted(closed, entry, 5);
    closed.close();
    closed.close();
    List<CompletionStage<?>> replies =
        List.of(
            SoleFleet.grant(closed, new GrantRequest(entry, Ask.LONG_MILLIS, 9)),
            closed.confirm(entry, 9),
            closed.extend(entry, Ask.LONG_MILLIS),
            closed.repair(entry, Ask.LONG_MILLIS, 9, Long.MAX_VALUE),
            closed.release(entry),
            closed.status());
    for (CompletionStage<?> reply : replies) {
      assertThat(reply.toCompletableFuture()).isCompleted();
    }
    assertThat(closed.inspect("r").toCompletableFuture()).isDone();
    closed.watch("r", () -> {}).close();
  }

  @Test
  default void shouldKeepWhatWasGrantedWhenTheNodeIsClosed() throws Exception {
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    LockNode closed = openNode();
    Ask.granted(closed, entry, 5);
    closed.close();
    assertThat(Ask.extend(node(), entry)).isEqualTo(new ExtendReply.Extended());
    Ask.released(node(), entry);
  }

  @Test
  default void shouldLeaveNoThreadAndNoConnection() throws Exception {
    node().close();
    Set<Thread> before = Threads.all();
    for (int i = 0; i < 20; i++) {
      LockNode opened = openNode();
      LockEntry entry = exclusive(fresh("owner"), fresh("r"));
      if (opened.capabilities().contains(Capability.WATCH)) {
        opened.watch(entry.resources().get(0), () -> {});
      }
      Ask.granted(opened, entry, 5);
      Ask.released(opened, entry);
      opened.close();
    }
    await(
        () -> "no thread of a closed node is left, but there are " + newThreads(before),
        () -> newThreads(before).isEmpty());
    if (has(StoreTrait.COUNTS_CONNECTIONS)) {
      await("no connection of a closed node is left", () -> store().connections() == 0);
    }
  }

  private Set<Thread> newThreads(Set<Thread> before) {
    Set<Thread> now = Threads.all();
    now.removeAll(before);
    now.removeIf(thread -> !store().isOfNode(thread));
    return now;
  }

  @Test
  default void shouldAnswerWhatIsUnderWayWhenItIsClosed() throws Exception {
    require(StoreTrait.HANGS);
    LockNode closing = openNode();
    LockEntry entry = exclusive(fresh("owner"), fresh("r"));
    store().hang();
    CompletableFuture<GrantReply> underWay =
        SoleFleet.grant(closing, new GrantRequest(entry, Ask.LONG_MILLIS, 5)).toCompletableFuture();
    closing.close();
    assertThat(underWay).isDone();
    store().resume();
  }
}
