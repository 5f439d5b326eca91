package dev.lukko.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class InMemoryNodeTest {
  private static final long DAY = TimeUnit.DAYS.toMillis(1);

  private long nowMillis = 1_000;
  private final InMemoryNode node =
      new InMemoryNode(
          "n",
          new Ticker() {
            @Override
            public long nanoTime() {
              return nowMillis * 1_000_000;
            }

            @Override
            public long wallMicros() {
              return 0;
            }
          });

  private static <T> T now(CompletionStage<T> stage) {
    assertThat(stage.toCompletableFuture()).isCompleted();
    return stage.toCompletableFuture().join();
  }

  private static LockEntry entry(String owner, String... resources) {
    return LockEntry.exclusive(resources.length == 0 ? List.of("r") : List.of(resources), owner);
  }

  private static LockEntry reader(String owner) {
    return new LockEntry(List.of("r"), owner, true);
  }

  private GrantReply grant(LockEntry entry, long ttlMillis, long proposal) {
    return now(node.grant(new GrantRequest(entry, ttlMillis, proposal)));
  }

  private Inspection inspect(String resource) {
    return now(node.inspect(resource));
  }

  @Test
  void grantTakesTheProposalWhenItIsHigherAndElseOneMore() {
    assertThat(grant(entry("a"), 100, 50)).isEqualTo(new Granted(50));
    now(node.release(entry("a")));
    assertThat(grant(entry("b"), 100, 50)).isEqualTo(new Granted(51));
    now(node.release(entry("b")));
    assertThat(grant(entry("c"), 100, 7)).isEqualTo(new Granted(52));
    now(node.release(entry("c")));
    assertThat(grant(entry("d"), 100, 100)).isEqualTo(new Granted(100));
  }

  @Test
  void refusalNamesTheHolderAndTheCounterAndChangesNothing() {
    grant(entry("a"), 100, 50);
    nowMillis += 30;
    GrantReply reply = grant(entry("b"), 100, 500);
    assertThat(reply).isInstanceOf(Refused.class);
    Refused refused = (Refused) reply;
    assertThat(refused.counter()).isEqualTo(50);
    assertThat(refused.holder().remaining()).hasValue(Duration.ofMillis(70));
    assertThat(inspect("r").counter()).hasValue(50);
    assertThat(inspect("r").holders()).hasSize(1);
  }

  @Test
  void repeatedGrantGivesTheStoredAnswerAndRaisesAndProlongsNothing() {
    grant(entry("a"), 100, 50);
    nowMillis += 60;
    assertThat(grant(entry("a"), 100, 70)).isEqualTo(new Granted(50));
    assertThat(inspect("r").counter()).hasValue(50);
    nowMillis += 40;
    assertThat(node.isHeld("r")).isFalse();
  }

  @Test
  void entryEndsWithItsTtlAndTheCounterStays() {
    grant(entry("a"), 100, 50);
    nowMillis += 99;
    assertThat(node.isHeld("r")).isTrue();
    nowMillis += 1;
    assertThat(node.isHeld("r")).isFalse();
    assertThat(grant(entry("b"), 100, 1)).isEqualTo(new Granted(51));
  }

  @Test
  void severalResourcesAreAllOrNothing() {
    grant(entry("x", "b"), 100, 50);
    assertThat(grant(entry("a", "a", "b", "c"), 100, 60)).isInstanceOf(Refused.class);
    assertThat(node.isHeld("a") || node.isHeld("c")).isFalse();
    now(node.release(entry("x", "b")));
    assertThat(grant(entry("a", "a", "b", "c"), 100, 10)).isEqualTo(new Granted(51));
    for (String resource : List.of("a", "b", "c")) {
      assertThat(inspect(resource).counter()).hasValue(51);
    }
    assertThat(now(node.release(entry("a", "a", "b", "c")))).isEqualTo(new ReleaseReply.Released());
    assertThat(node.isHeld("a") || node.isHeld("b") || node.isHeld("c")).isFalse();
  }

  @Test
  void confirmWantsTheHolderAndAHigherNumber() {
    grant(entry("a"), 100, 50);
    assertThat(now(node.confirm(entry("a"), 50))).isEqualTo(new ConfirmReply.Higher(50));
    assertThat(now(node.confirm(entry("b"), 60))).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(now(node.confirm(entry("a"), 51))).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(inspect("r").counter()).hasValue(51);
    assertThat(grant(entry("a"), 100, 1)).isEqualTo(new Granted(51));
    nowMillis += 100;
    assertThat(now(node.confirm(entry("a"), 60))).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(inspect("r").counter()).hasValue(51);
  }

  @Test
  void extendProlongsFromNowAndNeverCreates() {
    assertThat(now(node.extend(entry("a"), 100))).isEqualTo(new ExtendReply.Missing());
    assertThat(node.isHeld("r")).isFalse();
    grant(entry("a"), 100, 50);
    nowMillis += 90;
    assertThat(now(node.extend(entry("a"), 100))).isEqualTo(new ExtendReply.Extended());
    nowMillis += 99;
    assertThat(node.isHeld("r")).isTrue();
    nowMillis += 1;
    assertThat(now(node.extend(entry("a"), 100))).isEqualTo(new ExtendReply.Missing());
    grant(entry("b"), 100, 1);
    assertThat(now(node.extend(entry("a"), 100))).isInstanceOf(ExtendReply.HeldByOther.class);
  }

  @Test
  void extendOfAPartlyMissingSetChangesNothing() {
    grant(entry("a", "a", "b"), 100, 50);
    now(node.release(entry("a", "b")));
    nowMillis += 50;
    assertThat(now(node.extend(entry("a", "a", "b"), 100))).isEqualTo(new ExtendReply.Missing());
    nowMillis += 50;
    assertThat(node.isHeld("a")).isFalse();
  }

  @Test
  void repairCreatesWhatIsMissingAndRaisesTheCounterButNeverLowersIt() {
    assertThat(now(node.repair(entry("a"), 100, 70))).isEqualTo(new ExtendReply.Extended());
    assertThat(inspect("r").counter()).hasValue(70);
    assertThat(node.isHeld("r")).isTrue();
    assertThat(now(node.repair(entry("b"), 100, 90))).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(inspect("r").counter()).hasValue(70);
    now(node.repair(entry("a"), 100, 60));
    assertThat(inspect("r").counter()).hasValue(70);
  }

  @Test
  void releaseTouchesNobodyElsesEntry() {
    grant(entry("a"), 100, 50);
    assertThat(now(node.release(entry("b")))).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(node.isHeld("r")).isTrue();
    assertThat(now(node.release(entry("a")))).isEqualTo(new ReleaseReply.Released());
    assertThat(now(node.release(entry("a")))).isEqualTo(new ReleaseReply.NotHeld());
  }

  @Test
  void readersShareAndExcludeWriters() {
    assertThat(grant(reader("a"), 100, 50)).isEqualTo(new Granted(50));
    assertThat(grant(reader("b"), 200, 50)).isEqualTo(new Granted(51));
    assertThat(grant(entry("w"), 100, 60)).isInstanceOf(Refused.class);
    now(node.release(reader("a")));
    assertThat(grant(entry("w"), 100, 60)).isInstanceOf(Refused.class);
    nowMillis += 200;
    assertThat(grant(entry("w"), 100, 60)).isInstanceOf(Granted.class);
    assertThat(grant(reader("c"), 100, 60)).isInstanceOf(Refused.class);
  }

  @Test
  void fairWaitersAreServedInTheirOrder() {
    grant(entry("a"), 1_000, 50);
    FairTicket first = new FairTicket("w1", 10, 500);
    FairTicket second = new FairTicket("w2", 20, 500);
    assertThat(now(node.grant(new GrantRequest(entry("c"), 100, 1, second))))
        .isInstanceOf(Refused.class);
    assertThat(now(node.grant(new GrantRequest(entry("b"), 100, 1, first))))
        .isInstanceOf(Refused.class);
    now(node.release(entry("a")));
    assertThat(now(node.grant(new GrantRequest(entry("c"), 100, 1, second))))
        .isInstanceOf(Refused.class);
    assertThat(now(node.grant(new GrantRequest(entry("b"), 100, 1, first))))
        .isInstanceOf(Granted.class);
    now(node.release(entry("b")));
    assertThat(now(node.grant(new GrantRequest(entry("c"), 100, 1, second))))
        .isInstanceOf(Granted.class);
  }

  @Test
  void fairWaiterThatDiedOrLeftCostsTheLineNoMoreThanItsLease() {
    FairTicket dead = new FairTicket("w1", 10, 500);
    FairTicket gone = new FairTicket("w2", 15, 500);
    FairTicket alive = new FairTicket("w3", 20, 500);
    grant(entry("a"), 100, 50);
    now(node.grant(new GrantRequest(entry("b"), 100, 1, dead)));
    now(node.grant(new GrantRequest(entry("c"), 100, 1, gone)));
    now(node.release(entry("a")));
    node.leave(entry("c"), gone);
    assertThat(now(node.grant(new GrantRequest(entry("d"), 100, 1, alive))))
        .isInstanceOf(Refused.class);
    nowMillis += 500;
    assertThat(now(node.grant(new GrantRequest(entry("d"), 100, 1, alive))))
        .isInstanceOf(Granted.class);
  }

  @Test
  void counterAtItsEndFailsAndChangesNothing() {
    grant(entry("a"), 100, GrantRequest.MAX_COUNTER);
    now(node.release(entry("a")));
    assertThat(grant(entry("b"), 100, 1)).isInstanceOf(Failed.class);
    assertThat(node.isHeld("r")).isFalse();
    assertThat(inspect("r").counter()).hasValue(GrantRequest.MAX_COUNTER);
  }

  @Test
  void inspectionOfAnUnknownNameIsEmptyThoughItWasReleasedOrExtended() {
    assertThat(inspect("r"))
        .isEqualTo(new Inspection(List.of(), inspect("r").counter(), List.of()));
    now(node.release(entry("a")));
    now(node.extend(entry("a"), 100));
    now(node.confirm(entry("a"), 5));
    assertThat(inspect("r").counter()).isEmpty();
    assertThat(inspect("r").holders()).isEmpty();
  }

  @Test
  void hintsComeWithReleasesOfTheSameNameUntilTheWatchEnds() {
    List<String> hints = new ArrayList<>();
    var watch = node.watch("r", () -> hints.add("r"));
    var other = node.watch("s", () -> hints.add("s"));
    hints.clear();
    grant(entry("a"), 100, 1);
    now(node.release(entry("x")));
    assertThat(hints).isEmpty();
    now(node.release(entry("a")));
    assertThat(hints).containsExactly("r");
    watch.close();
    watch.close();
    grant(entry("a"), 100, 1);
    now(node.release(entry("a")));
    assertThat(hints).hasSize(1);
    other.close();
  }

  @Test
  void hintMayAskTheNodeItself() {
    List<GrantReply> replies = new ArrayList<>();
    grant(entry("a"), 100, 1);
    var watch = node.watch("r", () -> replies.add(grant(entry("b"), 100, 1)));
    replies.clear();
    now(node.release(entry("a")));
    assertThat(replies).singleElement().isInstanceOf(Granted.class);
    watch.close();
  }

  @Test
  void endlessTtlDoesNotOverflow() {
    grant(entry("a"), Long.MAX_VALUE, 1);
    nowMillis += 1_000 * DAY;
    assertThat(node.isHeld("r")).isTrue();
  }

  @Test
  void counterIsForgottenAfterItsRetentionAndNotBefore() {
    grant(entry("a"), 100, 5_000);
    nowMillis += 7 * DAY;
    sweep();
    assertThat(inspect("r").counter()).hasValue(5_000);
    nowMillis += 1;
    sweep();
    assertThat(inspect("r").counter()).isEmpty();
  }

  @Test
  void counterOfAHoldOfManyDaysIsKeptFromItsEndOn() {
    grant(entry("a"), 100 * DAY, 5_000);
    nowMillis += 20 * DAY;
    assertThat(now(node.extend(entry("a"), DAY))).isEqualTo(new ExtendReply.Extended());
    now(node.release(entry("a")));
    sweep();
    assertThat(inspect("r").counter()).hasValue(5_000);
  }

  private void sweep() {
    for (int i = 0; i < 10_000; i++) {
      grant(entry("sweeper", "another"), 1, 1);
    }
  }

  @Test
  void nodeThatForgotDoesNotVoteUntilItIsAdmitted() {
    grant(entry("a"), 100, 50);
    node.forget();
    assertThat(node.isHeld("r")).isFalse();
    assertThat(grant(entry("b"), 100, 1)).isInstanceOf(NotVoting.class);
    NodeStatus seen = now(node.status());
    assertThat(seen.awaitsAdmission()).isTrue();
    assertThat(now(node.admit(seen, 1_000)).state()).isEqualTo(NodeStatus.State.QUARANTINED);
    assertThat(now(node.admit(seen, 0)).state())
        .as("the first one decided")
        .isEqualTo(NodeStatus.State.QUARANTINED);
    nowMillis += 999;
    assertThat(grant(entry("b"), 100, 1)).isInstanceOf(NotVoting.class);
    nowMillis += 1;
    assertThat(grant(entry("b"), 100, 1)).isInstanceOf(Granted.class);
  }
}
