package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.TTL;
import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.reader;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redis.testing.Requests;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.MonitorTap;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisNodeFairTest {
  private static final String LINE = "lukko:{r}:line";

  private RedisServer server;
  private RedisNode node;

  @BeforeEach
  void start() {
    server = RedisServer.start();
    node = Requests.admitted(RedisNode.connect(server.url()));
  }

  @AfterEach
  void stop() {
    node.close();
    server.close();
  }

  private static FairTicket ticket(String waiter, long order) {
    return new FairTicket(waiter, order, TTL);
  }

  private static GrantReply queue(LockNode at, LockEntry entry, FairTicket ticket) {
    return answer(SoleFleet.grant(at, new GrantRequest(entry, TTL, 1, ticket)));
  }

  private void assertBehindAWaiter(GrantReply reply) {
    assertThat(reply)
        .isInstanceOfSatisfying(
            GrantReply.Refused.class,
            refused -> {
              assertThat(refused.holder().description())
                  .isEqualTo("a waiter with an earlier place");
              assertThat(refused.holder().remaining().orElseThrow())
                  .isBetween(Duration.ofMillis(1), Duration.ofMillis(TTL));
            });
  }

  @Test
  void placesAreTakenByOrderAndGivenUpWithTheGrant() {
    granted(node, entry("holder", "r"), 1);
    assertThat(queue(node, entry("b", "r"), ticket("second", 2)))
        .isInstanceOfSatisfying(
            GrantReply.Refused.class,
            refused -> assertThat(refused.holder().description()).contains("holder"));
    queue(node, entry("a", "r"), ticket("first", 1));
    release(node, entry("holder", "r"));
    assertBehindAWaiter(queue(node, entry("b2", "r"), ticket("second", 2)));
    assertThat(queue(node, entry("a2", "r"), ticket("first", 1)))
        .isInstanceOf(GrantReply.Granted.class);
    assertThat(server.command("HKEYS", LINE)).isEqualTo(List.of("second"));
    release(node, entry("a2", "r"));
    assertThat(queue(node, entry("b3", "r"), ticket("second", 2)))
        .isInstanceOf(GrantReply.Granted.class);
    assertThat(server.command("EXISTS", LINE)).isEqualTo(0L);
  }

  @Test
  void ordersThatAreEqualAreSettledByTheWaitersNameByteForByte() {
    granted(node, entry("holder", "r"), 1);
    // in a dictionary, and in some locales, b comes before C
    for (String waiter : List.of("b", "C", "ba")) {
      queue(node, entry(waiter, "r"), ticket(waiter, 7));
    }
    release(node, entry("holder", "r"));
    assertBehindAWaiter(queue(node, entry("b", "r"), ticket("b", 7)));
    assertThat(queue(node, entry("C", "r"), ticket("C", 7))).isInstanceOf(GrantReply.Granted.class);
    release(node, entry("C", "r"));
    assertBehindAWaiter(queue(node, entry("ba", "r"), ticket("ba", 7)));
    assertThat(queue(node, entry("b", "r"), ticket("b", 7))).isInstanceOf(GrantReply.Granted.class);
  }

  @Test
  void requestsWithoutATicketPassTheLine() {
    granted(node, entry("holder", "r"), 1);
    queue(node, entry("a", "r"), ticket("first", 1));
    release(node, entry("holder", "r"));
    granted(node, entry("hasty", "r"), 1);
  }

  @Test
  void placeOfADeadWaiterEndsByItselfAndWithTheLastTheKey() {
    granted(node, entry("holder", "r"), 1);
    queue(node, entry("a", "r"), new FairTicket("dead", 1, 50));
    queue(node, entry("b", "r"), new FairTicket("alive", 2, 400));
    release(node, entry("holder", "r"));
    await()
        .until(
            () -> queue(node, entry("c", "r"), ticket("other", 3)) instanceof GrantReply.Granted);
    granted(node, entry("d", "s"), 1);
    queue(node, entry("e", "s"), new FairTicket("alone", 2, 100));
    assertThat(server.command("EXISTS", "lukko:{s}:line")).isEqualTo(1L);
    await().until(() -> server.command("EXISTS", "lukko:{s}:line").equals(0L));
  }

  @Test
  void leavingMakesRoomAndGivesAHint() {
    AtomicInteger hints = new AtomicInteger();
    try (LockNode.Watch watch = node.watch("r", hints::incrementAndGet)) {
      await().until(() -> hints.get() == 1);
      granted(node, entry("holder", "r"), 1);
      queue(node, entry("a", "r"), ticket("first", 1));
      queue(node, entry("b", "r"), ticket("second", 2));
      node.leave(entry("a", "r"), ticket("first", 1));
      await().until(() -> hints.get() == 2);
      node.leave(entry("a", "r"), ticket("first", 1));
      release(node, entry("holder", "r"));
      await().until(() -> hints.get() == 3);
      assertThat(queue(node, entry("b", "r"), ticket("second", 2)))
          .isInstanceOf(GrantReply.Granted.class);
    }
  }

  @Test
  void repeatedRequestOfTheHolderGetsTheStoredAnswerAndLeavesNoPlaceBehind() {
    FairTicket ticket = ticket("first", 1);
    assertThat(queue(node, entry("a", "r"), ticket)).isEqualTo(new GrantReply.Granted(1));
    assertThat(queue(node, entry("a", "r"), ticket)).isEqualTo(new GrantReply.Granted(1));
    assertThat(server.command("EXISTS", LINE)).isEqualTo(0L);
  }

  @Test
  void severalResourcesKeepAPlaceInEachLine() {
    granted(node, entry("holder", "p"), 1);
    queue(node, entry("a", "p", "q"), ticket("first", 1));
    assertBehindAWaiter(queue(node, entry("b", "q"), ticket("second", 2)));
    release(node, entry("holder", "p"));
    assertThat(queue(node, entry("a", "p", "q"), ticket("first", 1)))
        .isInstanceOf(GrantReply.Granted.class);
    assertThat(server.command("EXISTS", "lukko:{p}:line")).isEqualTo(0L);
    assertThat(server.command("HKEYS", "lukko:{q}:line")).isEqualTo(List.of("second"));
  }

  @Test
  void lineThatIsNoLineFailsAndChangesNothing() {
    server.command("SET", LINE, "garbage");
    assertThat(queue(node, entry("a", "r"), ticket("first", 1)))
        .isInstanceOfSatisfying(
            dev.lukko.spi.Failed.class,
            failed -> assertThat(failed.detail()).startsWith("WRONGTYPE: "));
    assertThat(server.command("EXISTS", "lukko:{r}")).isEqualTo(0L);
  }

  @Test
  void queueingCostsOneRequest() {
    queue(node, entry("a", "r"), ticket("first", 1));
    release(node, entry("a", "r"));
    try (MonitorTap tap = MonitorTap.on(server)) {
      queue(node, entry("b", "r"), ticket("first", 1));
      release(node, entry("b", "r"));
      assertThat(tap.requests()).hasSize(2);
    }
  }

  /** The node in memory is the reference: the same requests must get the same answers. */
  @Test
  void answersAreThoseOfTheNodeInMemory() {
    for (long seed = 1; seed <= 20; seed++) {
      server.command("FLUSHALL");
      Requests.admit(node);
      InMemoryNode memory = new InMemoryNode();
      SoleFleet.admit(memory);
      Random random = new Random(seed);
      for (int step = 0; step < 60; step++) {
        int who = random.nextInt(4);
        String name = "w" + who;
        LockEntry entry =
            random.nextInt(3) == 0
                ? reader("reader " + name, "r")
                : entry(name, random.nextBoolean() ? "r" : "s");
        FairTicket ticket = random.nextInt(4) == 0 ? null : ticket(name, 10 + who % 3);
        switch (random.nextInt(4)) {
          case 0 ->
              assertThat(answer(node.release(entry)))
                  .as("seed %d step %d: release %s", seed, step, entry)
                  .isEqualTo(answer(memory.release(entry)));
          case 1 -> {
            node.leave(entry, ticket(name, 10 + who % 3));
            memory.leave(entry, ticket(name, 10 + who % 3));
          }
          default -> {
            GrantRequest request = new GrantRequest(entry, TTL, 1 + random.nextInt(100), ticket);
            GrantReply expected = answer(SoleFleet.grant(memory, request));
            GrantReply actual = answer(SoleFleet.grant(node, request));
            assertThat(shape(actual))
                .as("seed %d step %d: %s", seed, step, request)
                .isEqualTo(shape(expected));
            if (expected instanceof GrantReply.Granted && ticket != null) {
              memory.leave(entry, ticket); // which keeps a place after a repeated request
            }
          }
        }
      }
    }
  }

  /** An answer without its remaining time. */
  private static String shape(GrantReply reply) {
    return reply instanceof GrantReply.Refused refused
        ? refused.counter() + " " + refused.holder().description().replaceAll("reader w.", "reader")
        : reply.toString();
  }

  @Test
  void fairCallsOfSeveralClientsAreServedInTheOrderOfTheirCalls() {
    try (RedisServers servers = RedisServers.start(5)) {
      List<Redlock> clients = new ArrayList<>();
      try {
        for (int i = 0; i < 4; i++) {
          clients.add(
              Redlock.over(
                  RedisNode.connectAll(servers.urls().toArray(String[]::new))
                      .toArray(RedisNode[]::new)));
        }
        List<Integer> served = Collections.synchronizedList(new ArrayList<>());
        LockRequest request =
            LockRequest.builder("r")
                .ttl(Duration.ofMinutes(1))
                .maxWait(Duration.ofMinutes(1))
                .fair(true)
                .build();
        Lease held = clients.get(0).acquire(request);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 1; i < 4; i++) {
          int number = i;
          ends.add(
              clients
                  .get(i)
                  .acquireAsync(request)
                  .thenCompose(
                      lease -> {
                        served.add(number);
                        return lease.releaseAsync();
                      })
                  .thenAccept(outcome -> {}));
          long places = i;
          await()
              .untilAsserted(
                  () ->
                      assertThat(servers.all())
                          .allSatisfy(
                              each -> assertThat(each.command("HLEN", LINE)).isEqualTo(places)));
        }
        held.close();
        assertThat(CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)))
            .succeedsWithin(Requests.BOUND);
        assertThat(served).containsExactly(1, 2, 3);
      } finally {
        clients.forEach(Redlock::close);
      }
    }
  }
}
