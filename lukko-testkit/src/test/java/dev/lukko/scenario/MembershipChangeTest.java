package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.MembershipChange;
import dev.lukko.redlock.MembershipChange.Result;
import dev.lukko.redlock.MembershipChangeBuilder;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The set of nodes changes while locks are in use, and nobody ever holds beside another. */
class MembershipChangeTest {
  private static final Duration MAX_TTL = ms(10_000);
  private static final String ALL = "abcdef";

  private final ManualTime time = new ManualTime();
  private final List<InMemoryNode> stores = new ArrayList<>();
  private final List<Redlock> clients = new ArrayList<>();

  MembershipChangeTest() {
    for (char name : ALL.toCharArray()) {
      stores.add(new InMemoryNode(String.valueOf(name), time));
    }
  }

  @AfterEach
  void close() {
    clients.forEach(Redlock::close);
  }

  private InMemoryNode store(char name) {
    return stores.get(ALL.indexOf(name));
  }

  private List<LockNode> nodes(String names) {
    return names.chars().<LockNode>mapToObj(name -> store((char) name)).toList();
  }

  private Redlock client(String names) {
    return client(nodes(names));
  }

  private Redlock client(List<LockNode> nodes) {
    Redlock client =
        Redlock.builder()
            .nodes(nodes)
            .ticker(time)
            .scheduler(time)
            .maxTtl(MAX_TTL)
            .retryCount(0)
            .closeNodes(false)
            .build();
    clients.add(client);
    return client;
  }

  private MembershipChangeBuilder change(String from, String to) {
    return change(nodes(from), nodes(to));
  }

  private MembershipChangeBuilder change(List<LockNode> from, List<LockNode> to) {
    return MembershipChange.builder()
        .nodes(from)
        .to(to)
        .ticker(time)
        .scheduler(time)
        .maxTtl(MAX_TTL);
  }

  private Result changed(String from, String to) {
    CompletableFuture<Result> done = change(from, to).build().start();
    time.advance(MAX_TTL.multipliedBy(2));
    assertThat(done).isCompleted();
    return done.join();
  }

  private static LockRequest request() {
    return LockRequest.builder("r").ttl(MAX_TTL).maxWait(ms(0)).build();
  }

  private static boolean isRefused(Redlock client) {
    try {
      client.acquire(request()).release();
      return false;
    } catch (LockNotAcquiredException refused) {
      return true;
    }
  }

  private static String ids(Result result) {
    return result.members().size() + " members";
  }

  @Test
  void twoNodesAreAddedToThree() {
    Redlock three = client("abc");
    Lease before = three.acquire(request());
    long token = before.fencingToken();
    before.release();
    assertThat(ids(changed("abc", "abcde"))).isEqualTo("5 members");
    Redlock five = client("abcde");
    Lease held = five.acquire(request());
    assertThat(held.fencingToken()).isGreaterThan(token);
    assertThat(store('d').isHeld("r")).isTrue();
    assertThat(isRefused(three)).isTrue();
    held.release();
    assertThat(isRefused(three)).as("three of five are a majority").isFalse();
    assertThat(isRefused(client("cde"))).isFalse();
  }

  @Test
  void oneNodeOfThreeIsRemoved() {
    Redlock three = client("abc");
    long token = three.acquire(request()).fencingToken();
    assertThat(ids(changed("abc", "ab"))).isEqualTo("2 members");
    Lease held = client("ab").acquire(request());
    assertThat(held.fencingToken()).isGreaterThan(token);
    assertThat(store('c').isHeld("r")).isFalse();
    held.release();
    assertThat(isRefused(three)).isFalse();
  }

  @Test
  void leaseIsHeldThroughTheReplacementOfAllNodes() {
    client("abc");
    Redlock holder = client("abcdef");
    Lease lease =
        holder.acquire(
            LockRequest.builder("r").ttl(ms(5_000)).maxWait(ms(0)).autoExtend(true).build());
    Redlock old = client("abc");
    CompletableFuture<Result> done = change("abc", "def").build().start();
    for (int i = 0; i < 40; i++) {
      time.advance(ms(500));
      assertThat(lease.isValid()).as("after %s times", i).isTrue();
      assertThat(isRefused(old)).isTrue();
    }
    assertThat(done).isCompleted();
    Redlock fresh = client("def");
    assertThat(isRefused(fresh)).isTrue();
    long token = lease.fencingToken();
    lease.release();
    assertThat(fresh.acquire(request()).fencingToken()).isGreaterThan(token);
  }

  @Test
  void nobodyGoesOnWithTheNodesThatAreNoMembersAnyMore() {
    Redlock old = client("abc");
    changed("abc", "def");
    Lease lease = client("def").acquire(request());
    assertThat(isRefused(old)).isTrue();
    assertThat(isRefused(client("abc"))).as("nor makes a new fleet of them").isTrue();
    store('a').forget();
    assertThat(isRefused(client("abc"))).isTrue();
    assertThat(lease.isValid()).isTrue();
    assertThat(store('b').isHeld("r")).isFalse();
  }

  @Test
  void clientThatListsThreeOfFiveNeverGoesOnWithTwoThoughItCouldNotSeeTheFleetForAWhile() {
    assertThat(isRefused(client("abc"))).isFalse();
    changed("abc", "abcde");
    List<FaultyNode> three = nodes("abc").stream().map(FaultyNode::new).toList();
    Redlock old = client(List.copyOf(three));
    old.acquire(request()).release();
    three.get(0).fault(FaultyNode.Fault.DOWN);
    three.get(1).fault(FaultyNode.Fault.DOWN);
    Lease held = client("cde").acquire(request());
    store('c').forget();
    assertThatThrownBy(() -> old.acquire(request())).isInstanceOf(LockException.class);
    three.get(0).heal();
    three.get(1).heal();
    assertThatThrownBy(() -> old.acquire(request())).isInstanceOf(LockException.class);
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void whatWasGrantedByThePresentSetAloneIsOverBeforeTheNextOneDecides() {
    Lease lease = client("abc").acquire(request());
    CompletableFuture<Result> done = change("abc", "def").build().start();
    Redlock next = client("def");
    while (!done.isDone()) {
      time.advance(ms(100));
      if (!isRefused(next)) {
        assertThat(lease.isValid()).isFalse();
      }
    }
    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void tokensRiseThoughTheNextNodesAndTheirClientsAreBehind() {
    for (InMemoryNode store : stores.subList(0, 3)) {
      store.raiseCounter("r", 4_000_000_000_000_000L);
    }
    long before = client("abc").acquire(request()).fencingToken();
    changed("abc", "def");
    assertThat(client("def").acquire(request()).fencingToken()).isGreaterThan(before);
  }

  @Test
  void readersGoOnAboveTheFloorToo() {
    LockRequest shared =
        LockRequest.builder("r").ttl(ms(1_000)).maxWait(ms(0)).shared(true).build();
    client("cde").acquire(shared).release(); // a reader's mark at c, d and e
    store('c').forget();
    store('d').forget();
    client("abc");
    for (char name : "abc".toCharArray()) {
      store(name).raiseCounter("r", 4_000_000_000_000_000L);
    }
    long before = client("abc").acquire(request()).fencingToken();
    changed("abc", "def");
    long reader = client("def").acquire(shared).fencingToken();
    assertThat(reader).isGreaterThan(before);
  }

  @Test
  void changeThatDiesAtAnyStepIsGoneOnWithByAnother() {
    for (int requests = 0; requests < 60; requests++) {
      MembershipChangeTest world = new MembershipChangeTest();
      world.dieAfter(requests);
      world.close();
    }
  }

  private void dieAfter(int requests) {
    client("abc").acquire(request()).release();
    AtomicInteger left = new AtomicInteger(requests);
    CompletableFuture<Result> died =
        change(mortal("abc", left), mortal("abcde", left)).build().start();
    time.advance(MAX_TTL.multipliedBy(2));
    died.cancel(false);
    time.advance(ms(60_000));
    Redlock three = client("abc");
    Lease meanwhile = null;
    try {
      meanwhile = three.acquire(request());
    } catch (LockNotAcquiredException halfWay) {
      assertThat(halfWay).as("after %s requests", requests).hasMessageNotContaining("held by");
    }
    CompletableFuture<Result> again = change("abc", "abcde").build().start();
    Redlock five = client("abcde");
    for (int i = 0; i < 30 && !again.isDone(); i++) {
      if (meanwhile != null && meanwhile.isValid()) {
        assertThat(isRefused(five)).isTrue();
      }
      time.advance(ms(1_000));
    }
    assertThat(again).as("after %s requests", requests).isCompleted();
    assertThat(again.join().members()).hasSize(5);
    if (meanwhile != null) {
      meanwhile.release();
    }
    assertThat(isRefused(five)).as("after %s requests", requests).isFalse();
  }

  private List<LockNode> mortal(String names, AtomicInteger left) {
    return nodes(names).stream().<LockNode>map(node -> new Mortal(node, left)).toList();
  }

  /** Answers so many requests in all, then none any more. */
  private static final class Mortal extends ForwardingNode {
    private final AtomicInteger left;

    Mortal(LockNode node, AtomicInteger left) {
      super(node);
      this.left = left;
    }

    private <T> CompletionStage<T> pass(Supplier<CompletionStage<T>> verb) {
      return left.getAndDecrement() > 0 ? verb.get() : new CompletableFuture<>();
    }

    @Override
    public CompletionStage<NodeStatus> status() {
      return pass(super::status);
    }

    @Override
    public CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
      return pass(() -> super.admit(seen, change));
    }

    @Override
    public CompletionStage<Long> highestCounter() {
      return pass(super::highestCounter);
    }
  }

  @Test
  void newServerThatForgetsInTheMiddleDoesNotVoteForWhatItMayHaveForgotten() {
    client("abc");
    CompletableFuture<Result> done = change("abc", "def").build().start();
    Redlock all = client("abcdef");
    time.advance(ms(1_000));
    Lease lease = all.acquire(request());
    store('d').forget();
    Redlock other = client("abcdef");
    for (int i = 0; i < 9; i++) {
      time.advance(ms(1_000));
      assertThat(isRefused(other)).isTrue();
    }
    assertThat(lease.isValid()).isTrue();
    assertThat(store('d').isHeld("r")).isFalse();
    time.advance(MAX_TTL.multipliedBy(4));
    assertThat(done).isCompleted();
    assertThat(isRefused(client("def"))).isFalse();
  }

  @Test
  void formerServerThatForgetsInTheMiddleEndsNothing() {
    Redlock three = client("abc");
    long token = three.acquire(request()).fencingToken();
    CompletableFuture<Result> done = change("abc", "abcde").build().start();
    time.advance(ms(5_000));
    store('a').forget();
    time.advance(MAX_TTL.multipliedBy(4));
    assertThat(done).isCompleted();
    assertThat(client("abcde").acquire(request()).fencingToken()).isGreaterThan(token);
  }

  @Test
  void ofTwoChangesAtOnceWithDifferentAimsOneFails() {
    client("abc");
    CompletableFuture<Result> one = change("abc", "abd").build().start();
    CompletableFuture<Result> two = change("abc", "abe").build().start();
    time.advance(MAX_TTL.multipliedBy(3));
    assertThat(one).isCompleted();
    assertThat(two).isCompletedExceptionally();
    assertThatThrownBy(two::join).hasMessageContaining("under way to other nodes");
    assertThat(isRefused(client("abd"))).isFalse();
  }

  @Test
  void nothingIsDoneIfTheNodesAreThoseAlready() {
    client("abc");
    CompletableFuture<Result> done = change("abc", "cab").build().start();
    assertThat(done).isCompletedWithValueMatching(result -> !result.changed());
  }

  @Test
  void whatCannotBeDoneIsRefusedBeforeAnythingIsWritten() {
    assertThatThrownBy(() -> change("abc", "").build()).hasMessageContaining("to is empty");
    assertThatThrownBy(() -> change("", "abc").build()).hasMessageContaining("nodes is empty");
    assertThatThrownBy(() -> change("abc", "abb").build()).hasMessageContaining("to has b twice");
    client("abc");
    LockNode down =
        new ForwardingNode(store('d')) {
          @Override
          public CompletionStage<NodeStatus> status() {
            return CompletableFuture.completedFuture(NodeStatus.unreachable("down by the test"));
          }
        };
    assertFails(change(nodes("abc"), List.of(store('a'), down)), "node d cannot be reached");
    LockNode plain =
        new ForwardingNode(store('d')) {
          @Override
          public CompletionStage<NodeStatus> status() {
            return CompletableFuture.completedFuture(NodeStatus.voting("d"));
          }
        };
    assertFails(change(nodes("abc"), List.of(store('a'), plain)), "node d keeps no record");
    LockNode twin =
        new ForwardingNode(store('a')) {
          @Override
          public String name() {
            return "twin";
          }
        };
    assertFails(
        change(nodes("abc"), List.of(store('a'), twin)), "nodes a and twin are the same server");
    assertFails(change("de", "def").patience(ms(10)), "no fleet has a majority");
    assertThat(store('d').status().toCompletableFuture().join().memory().directory()).isEmpty();
    assertThat(isRefused(client("abc"))).isFalse();
  }

  private void assertFails(MembershipChangeBuilder change, String message) {
    CompletableFuture<Result> done = change.build().start();
    time.advance(ms(1_000));
    assertThatThrownBy(done::join)
        .hasCauseInstanceOf(LockException.class)
        .hasMessageContaining(message);
  }
}
