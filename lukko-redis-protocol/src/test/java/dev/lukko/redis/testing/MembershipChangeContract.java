package dev.lukko.redis.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.redlock.MembershipChange;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.testkit.RedisServers;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The set of nodes changes on real servers, under load, with any driver. */
public abstract class MembershipChangeContract {
  private static final Duration MAX_TTL = Duration.ofMillis(2_000);
  private static final LockRequest JOB =
      LockRequest.builder("job")
          .ttl(MAX_TTL)
          .maxWait(Duration.ofSeconds(60))
          .waitForQuorum(true)
          .build();

  private final List<AutoCloseable> open = new ArrayList<>();
  private final Scheduler timers = Scheduler.create("change");
  private RedisServers servers;

  /** A node of the driver under test. */
  protected abstract LockNode connect(String url);

  @BeforeEach
  void start() {
    servers = RedisServers.start(6);
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    timers.close();
    servers.close();
  }

  private List<LockNode> nodes(int... which) {
    List<LockNode> nodes =
        IntStream.of(which).mapToObj(i -> connect(servers.get(i).url())).toList();
    open.addAll(nodes);
    return nodes;
  }

  private Redlock client(int... which) {
    Redlock client =
        Redlock.builder()
            .nodes(nodes(which))
            .closeNodes(false)
            .maxTtl(MAX_TTL)
            .nodeTimeout(Duration.ofMillis(500))
            .build();
    open.add(0, client);
    return client;
  }

  private MembershipChange change(List<LockNode> former, List<LockNode> next) {
    return MembershipChange.builder()
        .nodes(former)
        .to(next)
        .maxTtl(MAX_TTL)
        .scheduler(timers)
        .build();
  }

  /** Programs that add one to a number that nothing but the lock guards. */
  private final class Load {
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicInteger additions = new AtomicInteger();
    private final List<CompletableFuture<Void>> threads = new ArrayList<>();
    private volatile int number;
    private volatile long lastToken;

    void with(Redlock client) {
      threads.add(
          CompletableFuture.runAsync(
              () -> {
                while (!ended.get()) {
                  add(client);
                }
              },
              task -> new Thread(task, "load").start()));
    }

    private void add(Redlock client) {
      Lease lease;
      try {
        lease = client.acquire(JOB);
      } catch (LockNotAcquiredException whileItChanges) {
        return;
      }
      int read = number;
      Thread.yield();
      if (lease.isValid()) {
        assertThat(lease.fencingToken()).isGreaterThan(lastToken);
        lastToken = lease.fencingToken();
        number = read + 1;
        additions.incrementAndGet();
      }
      lease.release();
    }

    void awaitMore() {
      int before = additions.get();
      await().until(() -> failed() || additions.get() > before + 10);
    }

    private boolean failed() {
      return threads.stream().anyMatch(CompletableFuture::isCompletedExceptionally);
    }

    void end() throws Exception {
      ended.set(true);
      for (CompletableFuture<Void> thread : threads) {
        thread.get(90, TimeUnit.SECONDS);
      }
      assertThat(number).as("no addition is lost").isEqualTo(additions.get());
    }
  }

  @Test
  void twoNodesAreAddedToThreeUnderLoad() throws Exception {
    Load load = new Load();
    load.with(client(0, 1, 2));
    load.with(client(0, 1, 2));
    load.awaitMore();
    MembershipChange.Result result = change(nodes(0, 1, 2), nodes(0, 1, 2, 3, 4)).run();
    assertThat(result.members()).hasSize(5);
    load.with(client(0, 1, 2, 3, 4));
    load.with(client(2, 3, 4));
    load.awaitMore();
    load.end();
    servers.get(0).kill();
    servers.get(1).kill();
    client(2, 3, 4).acquire(JOB).release();
  }

  @Test
  void oneNodeOfThreeIsRemovedUnderLoad() throws Exception {
    Load load = new Load();
    load.with(client(0, 1, 2));
    load.with(client(0, 1, 2));
    load.awaitMore();
    assertThat(change(nodes(0, 1, 2), nodes(0, 1)).run().members()).hasSize(2);
    servers.get(2).kill();
    load.awaitMore();
    load.end();
  }

  @Test
  void allThreeNodesAreReplacedUnderLoadAndAServerForgetsInTheMiddle() throws Exception {
    Load load = new Load();
    client(0, 1, 2).acquire(JOB).release();
    Redlock old = client(0, 1, 2);
    load.with(client(0, 1, 2, 3, 4, 5));
    load.with(client(0, 1, 2, 3, 4, 5));
    load.awaitMore();
    CompletableFuture<MembershipChange.Result> done =
        change(nodes(0, 1, 2), nodes(3, 4, 5)).start();
    load.awaitMore();
    servers.get(0).restart();
    assertThat(done.get(60, TimeUnit.SECONDS).members()).hasSize(3);
    load.awaitMore();
    load.with(client(3, 4, 5));
    load.awaitMore();
    LockRequest once = LockRequest.builder("job").ttl(MAX_TTL).maxWait(Duration.ZERO).build();
    assertThatThrownBy(() -> old.acquire(once)).isInstanceOf(LockNotAcquiredException.class);
    load.end();
  }

  @Test
  void changeThatWasStoppedInTheMiddleIsGoneOnWith() throws Exception {
    Load load = new Load();
    load.with(client(0, 1, 2, 3, 4));
    client(0, 1, 2).acquire(JOB).release();
    CompletableFuture<MembershipChange.Result> stopped =
        change(nodes(0, 1, 2), nodes(0, 1, 2, 3, 4)).start();
    load.awaitMore();
    stopped.cancel(false);
    assertThat(change(nodes(0, 1, 2), nodes(0, 1, 2, 3, 4)).run().members()).hasSize(5);
    load.awaitMore();
    load.end();
  }

  /** As one whose process stood still: it does nothing from before the change until after it. */
  @Test
  void holderThatSleptThroughTheWholeChangeHasNothingAnyMore() {
    Redlock sleeper = client(0, 1, 2);
    Lease lease = sleeper.acquire(JOB);
    change(nodes(0, 1, 2), nodes(3, 4, 5)).run();
    Lease next = client(3, 4, 5).acquire(JOB);
    assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
    assertThat(lease.isValid()).isFalse();
    assertThatThrownBy(() -> lease.extend(MAX_TTL)).isInstanceOf(LeaseLostException.class);
    assertThat(next.extend(MAX_TTL)).isTrue();
    lease.release();
    assertThat(next.extend(MAX_TTL)).as("it released nothing of the next holder's").isTrue();
    next.release();
  }

  @Test
  void serverThatForgotReturnsAboveWhatTheOthersHaveTold() {
    List<LockNode> nodes = nodes(0, 1, 2);
    Redlock client =
        Redlock.builder()
            .nodes(nodes)
            .closeNodes(false)
            .maxTtl(MAX_TTL)
            .nodeTimeout(Duration.ofMillis(500))
            .returnByReading(true)
            .build();
    open.add(0, client);
    Lease lease = client.acquire(JOB);
    lease.release();
    servers.get(1).restart();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              client.acquire(JOB).release(); // finds it, and goes on with the others
              return floorAt(nodes.get(1)) >= lease.fencingToken();
            });
    servers.get(0).kill();
    Lease next = client.acquire(JOB);
    assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
    next.release();
  }

  /** The floor of its record if it votes. */
  private static long floorAt(LockNode node) {
    NodeStatus status = node.status().toCompletableFuture().join();
    FleetMemory memory = status.memory();
    return memory == null || status.state() != NodeStatus.State.VOTING
        ? -1
        : memory.records().get(0).floor();
  }
}
