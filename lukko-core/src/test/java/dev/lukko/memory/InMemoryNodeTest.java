package dev.lukko.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeStatus;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class InMemoryNodeTest {
  private static final long DAY = TimeUnit.DAYS.toMillis(1);

  private long nowMillis = 1_000;
  private final Ticker ticker =
      new Ticker() {
        @Override
        public long nanoTime() {
          return nowMillis * 1_000_000;
        }

        @Override
        public long wallMicros() {
          return 0;
        }
      };
  private final InMemoryNode node = new InMemoryNode("n", ticker);

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
    return now(node.grant(new GrantRequest(entry.seen(seen()), ttlMillis, proposal)));
  }

  /** What a client sees of the node, once it has admitted it. */
  private String seen() {
    return seen(node);
  }

  private static String seen(InMemoryNode node) {
    NodeStatus status = now(node.status());
    FleetMemory memory = Objects.requireNonNull(status.memory());
    if (memory.records().isEmpty()) {
      String run = memory.run();
      FleetRecord record =
          new FleetRecord("f", 1, 0, List.of(run), run, run, 0, FleetRecord.UNMARKED);
      now(node.admit(status, FleetChange.of(record, 0)));
      return record.seen();
    }
    return memory.records().get(0).seen();
  }

  private Inspection inspect(String resource) {
    return now(node.inspect(resource));
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
  void counterIsForgottenAfterTheRetentionThatWasSet() {
    InMemoryNode brief = new InMemoryNode("brief", ticker, Duration.ofMillis(5_000));
    now(brief.grant(new GrantRequest(entry("a").seen(seen(brief)), 100, 7_000)));
    nowMillis += 5_000;
    sweep(brief);
    assertThat(now(brief.inspect("r")).counter()).hasValue(7_000);
    nowMillis += 1;
    sweep(brief);
    assertThat(now(brief.inspect("r")).counter()).isEmpty();
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
    sweep(node);
  }

  private static void sweep(InMemoryNode swept) {
    for (int i = 0; i < 10_000; i++) {
      now(swept.grant(new GrantRequest(entry("sweeper", "another").seen(seen(swept)), 1, 1)));
    }
  }

  @Test
  void shouldGiveHigherTokensThanTheCounterThatItWasRaisedTo() {
    node.raiseCounter("r", 500);
    node.raiseCounter("r", 400);

    assertThat(grant(entry("a"), 100, 1)).isEqualTo(new Granted(501));
    assertThatThrownBy(() -> node.raiseCounter("r", 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("counter is 0; it must be 1 to 9007199254740991");
  }
}
