package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.SoleFleet;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Many at once. */
interface RaceRules extends ContractRules {

  @Test
  default void shouldGrantToOneOfHundredsWhoAskAtOnce() throws Exception {
    String resource = fresh("r");
    List<LockNode> nodes = List.of(node(), openNode(), openNode(), openNode());
    int each = 60;
    Map<LockEntry, CompletableFuture<GrantReply>> replies = new LinkedHashMap<>();
    List<Thread> threads = new ArrayList<>();
    CountDownLatch start = new CountDownLatch(1);
    for (LockNode asked : nodes) {
      Map<LockEntry, CompletableFuture<GrantReply>> own = new LinkedHashMap<>();
      for (int i = 0; i < each; i++) {
        own.put(exclusive(fresh("owner"), resource), new CompletableFuture<>());
      }
      replies.putAll(own);
      threads.add(
          new Thread(
              () -> {
                awaitQuietly(start);
                own.forEach(
                    (entry, reply) ->
                        SoleFleet.grant(asked, new GrantRequest(entry, Ask.LONG_MILLIS, 5))
                            .thenAccept(reply::complete));
              },
              "lukko-contract-race"));
    }
    threads.forEach(Thread::start);
    start.countDown();

    List<LockEntry> winners = new ArrayList<>();
    replies.forEach(
        (entry, pending) -> {
          GrantReply reply = Ask.answer(pending);
          if (reply instanceof Granted) {
            winners.add(entry);
          } else {
            // A node may have a limit for what waits at a time; no answer may be in doubt.
            assertThat(reply).isInstanceOfAny(Refused.class, Failed.class);
          }
        });
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(winners).hasSize(1);
    LockEntry winner = winners.get(0);
    assertThat(Ask.grant(node(), winner, 900)).isEqualTo(new Granted(5));
    for (LockEntry entry : replies.keySet()) {
      assertThat(Ask.release(node(), entry))
          .isInstanceOf(
              entry.equals(winner) ? ReleaseReply.Released.class : ReleaseReply.NotHeld.class);
    }
    assertThat(Ask.granted(node(), exclusive(fresh("next"), resource), 1)).isEqualTo(6);
  }

  @Test
  default void shouldGiveEveryHolderOfManyAHigherNumber() throws Exception {
    String resource = fresh("r");
    int threadCount = 4;
    int holdsOfEach = 15;
    List<Long> numbers = new ArrayList<>(); // guarded by the lock under test
    List<CompletableFuture<Void>> done = new ArrayList<>();
    for (int t = 0; t < threadCount; t++) {
      LockNode own = openNode();
      CompletableFuture<Void> end = new CompletableFuture<>();
      done.add(end);
      Thread thread =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < holdsOfEach; i++) {
                    holdOnce(own, resource, numbers);
                  }
                  end.complete(null);
                } catch (Throwable failure) {
                  end.completeExceptionally(failure);
                }
              },
              "lukko-contract-race");
      thread.setDaemon(true);
      thread.start();
    }
    for (CompletableFuture<Void> end : done) {
      Ask.answer(end);
    }
    assertThat(numbers).hasSize(threadCount * holdsOfEach).doesNotHaveDuplicates().isSorted();
  }

  private void holdOnce(LockNode node, String resource, List<Long> numbers) throws Exception {
    LockEntry entry = exclusive(fresh("owner"), resource);
    await(
        "a turn of " + entry,
        () -> {
          GrantReply reply = Ask.grant(node, entry, 1);
          if (reply instanceof Granted granted) {
            synchronized (numbers) {
              numbers.add(granted.counter());
            }
            return true;
          }
          assertThat(reply).isInstanceOf(Refused.class);
          return false;
        });
    Ask.released(node, entry);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
