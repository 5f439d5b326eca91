package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.FaultyNode.Fault;
import dev.lukko.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes that forgot vote again above the counters of a majority, whatever the clocks say. */
class ReturnByReadingTest {
  private static final Duration MAX_TTL = ms(10_000);

  /** Far above what any clock of these tests gives, as of a client whose clock was ahead. */
  private static final long AHEAD = 4_000_000_000_000_000L;

  private static final LockRequest R =
      LockRequest.builder("r").ttl(ms(1_000)).maxWait(ms(0)).build();

  private final ManualTime time = new ManualTime();
  private final List<InMemoryNode> stores = new ArrayList<>();
  private final List<Counted> nodes = new ArrayList<>();
  private final List<FaultyNode> links = new ArrayList<>();
  private final List<Redlock> clients = new ArrayList<>();

  /** A node whose server may forget right after it has told its counters. */
  private static final class Counted extends ForwardingNode {
    private final InMemoryNode store;
    private int readings;
    private boolean forgetsThen;

    Counted(InMemoryNode store) {
      super(store);
      this.store = store;
    }

    @Override
    public CompletionStage<Long> highestCounter() {
      readings++;
      CompletionStage<Long> told = super.highestCounter();
      if (forgetsThen) {
        forgetsThen = false;
        store.forget();
      }
      return told;
    }
  }

  @AfterEach
  void close() {
    clients.forEach(Redlock::close);
  }

  private void servers(int count) {
    for (int i = 0; i < count; i++) {
      stores.add(new InMemoryNode("n" + i, time));
      nodes.add(new Counted(stores.get(i)));
      links.add(new FaultyNode(nodes.get(i)));
    }
  }

  private Redlock client(boolean byReading) {
    Redlock client =
        Redlock.builder()
            .nodes(links)
            .ticker(time)
            .scheduler(time)
            .maxTtl(MAX_TTL)
            .returnByReading(byReading)
            .retryCount(0)
            .closeNodes(false)
            .build();
    clients.add(client);
    return client;
  }

  private static OptionalLong token(Redlock client) {
    try {
      var lease = client.acquire(R);
      lease.release();
      return OptionalLong.of(lease.fencingToken());
    } catch (LockNotAcquiredException refused) {
      return OptionalLong.empty();
    }
  }

  /** Two of three have granted a high number; one of these forgets, and the other one is lost. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void tokensRiseOverANodeThatForgotThoughNoClockIsRight(boolean byReading) {
    servers(3);
    Redlock client = client(byReading);
    stores.get(0).raiseCounter("r", AHEAD);
    stores.get(1).raiseCounter("r", AHEAD);
    links.get(2).fault(Fault.DOWN);
    long before = token(client).orElseThrow();
    stores.get(1).forget();
    assertThat(token(client)).as("and finds it").isEmpty();
    links.get(2).heal(); // Nobody acquires, so that it learns no number.
    time.advance(MAX_TTL.plusSeconds(12));
    links.get(0).fault(Fault.DOWN);
    long after = token(client(byReading)).orElseThrow(); // who remembers no number of its own
    if (byReading) {
      assertThat(after).isGreaterThan(before);
    } else {
      assertThat(after).as("it rests on the clocks").isLessThan(before);
    }
  }

  @Test
  void nodeStaysOutUntilAMajorityHasBeenRead() {
    servers(3);
    Redlock client = client(true);
    token(client);
    stores.get(1).forget();
    token(client);
    links.get(2).fault(Fault.DOWN);
    time.advance(MAX_TTL.plusSeconds(20));
    assertThat(token(client)).isEmpty();
    assertThat(client.health().nodes().get(1).detail()).contains("have to be read");
    links.get(2).heal();
    time.advance(Duration.ofSeconds(20));
    links.get(0).fault(Fault.DOWN);
    assertThat(token(client)).isPresent();
  }

  @Test
  void whatANodeToldBeforeItForgotIsReadAgainFromTheOthers() {
    servers(5);
    Redlock client = client(true);
    token(client);
    stores.get(1).forget();
    token(client);
    nodes.get(2).forgetsThen = true;
    time.advance(MAX_TTL.plusSeconds(20));
    assertThat(nodes.get(0).readings).as("once in vain, and once more").isGreaterThan(1);
    links.get(0).fault(Fault.DOWN);
    assertThat(token(client)).as("of nodes 1, 3 and 4").isPresent();
  }

  @Test
  void whereNoMajorityIsLeftToReadTheyReturnAfterTheQuarantine() {
    servers(3);
    Redlock client = client(true);
    token(client);
    stores.get(0).forget();
    token(client);
    links.get(2).fault(Fault.DOWN);
    time.advance(MAX_TTL.plusSeconds(6)); // It has waited, and cannot be read.
    stores.get(1).forget();
    time.advance(MAX_TTL.plusSeconds(20));
    links.get(2).heal();
    time.advance(MAX_TTL.plusSeconds(20));
    assertThat(token(client)).isPresent();
  }

  @Test
  void anyClientReadsAndOthersFollow() {
    servers(3);
    Redlock one = client(true);
    Redlock other = client(false);
    token(one);
    token(other);
    stores.get(1).forget();
    token(one);
    one.close();
    time.advance(MAX_TTL.plusSeconds(20));
    token(other);
    time.advance(Duration.ofSeconds(20));
    links.get(0).fault(Fault.DOWN);
    assertThat(token(other)).isPresent();
  }
}
