package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.fencing.KeyClaimLostException;
import dev.lukko.fencing.KeyInProgressException;
import dev.lukko.fencing.KeyReusedException;
import dev.lukko.fencing.RequestFingerprint;
import dev.lukko.testkit.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisIdempotencyKeysTest {
  private static final RequestFingerprint REQUEST = RequestFingerprint.of("pay 100 to bob");

  private static RedisServer server;
  private static RedisClient client;
  private static RedisCommands<String, String> redis;

  private final RedisIdempotencyKeys keys =
      RedisIdempotencyKeys.over(redis).maxWait(Duration.ofMinutes(1));
  private final AtomicInteger runs = new AtomicInteger();

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    client = RedisClient.create(server.url());
    redis = client.connect().sync();
  }

  @AfterAll
  static void stop() {
    client.shutdown();
    server.close();
  }

  @BeforeEach
  void empty() {
    redis.flushall();
  }

  @Test
  void repeatReturnsTheStoredResultWithoutDoingTheWork() throws Exception {
    assertThat(keys.runOnce("key", REQUEST, work("receipt"))).isEqualTo("receipt");
    assertThat(keys.runOnce("key", REQUEST, work("another"))).isEqualTo("receipt");
    assertThat(keys.runOnce("none", REQUEST, work(null))).isNull();
    assertThat(keys.runOnce("none", REQUEST, work("x"))).isNull();
    assertThat(keys.runOnce("empty", REQUEST, work(""))).isEmpty();
    assertThat(keys.runOnce("empty", REQUEST, work("x"))).isEmpty();
    assertThat(runs).hasValue(3);
    assertThat(redis.ttl("lukko:once:key")).isBetween(7L * 86_400 - 60, 7L * 86_400);
  }

  @Test
  void failedRunLeavesNothingAndTheNextOneDoesTheWork() throws Exception {
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    () -> {
                      assertThat(redis.ttl("lukko:once:key")).isBetween(1L, 60L);
                      throw new IOException("failed");
                    }))
        .isInstanceOf(IOException.class)
        .hasNoSuppressedExceptions();
    assertThat(redis.dbsize()).isZero();
    assertThat(keys.runOnce("key", REQUEST, work("done"))).isEqualTo("done");
  }

  @Test
  void keyOfAnotherRequestIsRefusedNamingKeyAndBothFingerprints() throws Exception {
    RequestFingerprint other = RequestFingerprint.of("pay 100 to mallory");
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key", REQUEST, () -> keys.runOnce("key", other, work("while running"))))
        .isInstanceOf(KeyReusedException.class)
        .hasMessageContainingAll("\"key\"", REQUEST.shortForm(), other.shortForm());
    keys.runOnce("key", REQUEST, work("done"));
    assertThatThrownBy(() -> keys.runOnce("key", other, work("x")))
        .isInstanceOf(KeyReusedException.class);
    assertThat(runs).hasValue(1);
  }

  @Test
  void concurrentRepeatWaitsAndGetsTheResult() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    FutureTask<String> first =
        start(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    () -> {
                      inside.countDown();
                      assertThat(goOn.await(60, TimeUnit.SECONDS)).isTrue();
                      return work("done").call();
                    }));
    assertThat(inside.await(60, TimeUnit.SECONDS)).isTrue();
    long asked = evaluations();
    FutureTask<String> repeat = start(() -> keys.runOnce("key", REQUEST, work("twice")));
    await().until(() -> evaluations() >= asked + 2);
    goOn.countDown();

    assertThat(first.get(60, TimeUnit.SECONDS)).isEqualTo("done");
    assertThat(repeat.get(60, TimeUnit.SECONDS)).isEqualTo("done");
    assertThat(runs).hasValue(1);
  }

  @Test
  void repeatGivesUpWhenTheFirstDoesNotEndWithinTheWait() {
    RedisIdempotencyKeys impatient = keys.maxWait(Duration.ZERO);
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key", REQUEST, () -> impatient.runOnce("key", REQUEST, work("twice"))))
        .isInstanceOfSatisfying(
            KeyInProgressException.class, busy -> assertThat(busy.key()).isEqualTo("key"));
    assertThat(runs).hasValue(0);
  }

  @Test
  void interruptedWaitThrowsThatTheKeyIsInProgressAndKeepsTheFlag() throws Exception {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    AtomicBoolean flag = new AtomicBoolean();
    keys.runOnce(
        "key",
        REQUEST,
        () -> {
          Thread repeat =
              new Thread(
                  () -> {
                    try {
                      keys.runOnce("key", REQUEST, work("twice"));
                    } catch (Exception failure) {
                      thrown.set(failure);
                    }
                    flag.set(Thread.currentThread().isInterrupted());
                  });
          long asked = evaluations();
          repeat.start();
          await().until(() -> evaluations() > asked);
          repeat.interrupt();
          repeat.join(60_000);
          assertThat(repeat.isAlive()).isFalse();
          return "once";
        });
    assertThat(thrown.get())
        .isInstanceOfSatisfying(
            KeyInProgressException.class, busy -> assertThat(busy.key()).isEqualTo("key"));
    assertThat(flag).isTrue();
    assertThat(runs).hasValue(0);
  }

  @Test
  void workThatEndsWithTheFlagSetHasItsResultStoredAndKeepsTheFlag() throws Exception {
    assertThat(
            keys.runOnce(
                "key",
                REQUEST,
                () -> {
                  Thread.currentThread().interrupt();
                  return "done";
                }))
        .isEqualTo("done");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(keys.runOnce("key", REQUEST, work("twice"))).isEqualTo("done");
    assertThat(runs).hasValue(0);
  }

  @Test
  void workThatFailsWithTheFlagSetTakesItsClaimBack() throws Exception {
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    () -> {
                      Thread.currentThread().interrupt();
                      throw new IllegalStateException("broke off");
                    }))
        .hasMessage("broke off");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(keys.runOnce("key", REQUEST, work("again"))).isEqualTo("again");
  }

  @Test
  void workThatOutlivesItsClaimIsToldAndNeverOverwritesTheOther() throws Exception {
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    () -> {
                      redis.del("lukko:once:key"); // as if the claim's time were over
                      keys.runOnce("key", REQUEST, work("second"));
                      return "first";
                    }))
        .isInstanceOfSatisfying(
            KeyClaimLostException.class,
            lost -> {
              assertThat(lost.key()).isEqualTo("key");
              assertThat(lost.result()).hasValue("first");
            });
    assertThat(keys.runOnce("key", REQUEST, work("third"))).isEqualTo("second");
  }

  @Test
  void failedWorkThatOutlivedItsClaimDoesNotTakeTheOthersBack() throws Exception {
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    () -> {
                      redis.del("lukko:once:key");
                      keys.runOnce("key", REQUEST, work("second"));
                      throw new IOException("failed late");
                    }))
        .isInstanceOf(IOException.class);
    assertThat(keys.runOnce("key", REQUEST, work("third"))).isEqualTo("second");
  }

  @Test
  void claimOfADeadProcessRunsOutAndARepeatDoesTheWork() throws Exception {
    redis.hset("lukko:once:key", "owner", "a process that has died");
    redis.hset("lukko:once:key", "request", REQUEST.value());
    redis.pexpire("lukko:once:key", 50);
    assertThat(keys.runOnce("key", REQUEST, work("done"))).isEqualTo("done");
  }

  @Test
  void foreignKeyIsAnError() {
    redis.hset("lukko:once:key", "something", "else");
    assertThatThrownBy(() -> keys.runOnce("key", REQUEST, work("x")))
        .isInstanceOf(RedisCommandExecutionException.class)
        .hasMessageContaining("ONCE");
    redis.set("lukko:once:text", "foreign");
    assertThatThrownBy(() -> keys.runOnce("text", REQUEST, work("x")))
        .isInstanceOf(RedisCommandExecutionException.class)
        .hasMessageContaining("WRONGTYPE");
    assertThat(runs).hasValue(0);
  }

  @Test
  void settingsOutOfRangeAreRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> keys.claimTtl(Duration.ofMillis(9)))
        .withMessageContaining("claimTtl");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> keys.maxWait(Duration.ofMillis(-1)))
        .withMessageContaining("maxWait");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> keys.retention(Duration.ZERO))
        .withMessageContaining("retention");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> keys.runOnce("", REQUEST, work("x")))
        .withMessageContaining("key");
  }

  /** How many scripts the server has run. */
  private static long evaluations() {
    return redis
        .info("commandstats")
        .lines()
        .filter(line -> line.startsWith("cmdstat_evalsha:calls="))
        .mapToLong(line -> Long.parseLong(line.replaceAll("^[^=]*calls=(\\d+).*", "$1")))
        .sum();
  }

  private Callable<String> work(String result) {
    return () -> {
      runs.incrementAndGet();
      return result;
    };
  }

  private static FutureTask<String> start(Callable<String> call) {
    FutureTask<String> task = new FutureTask<>(call);
    Thread thread = new Thread(task, "caller");
    thread.setDaemon(true);
    thread.start();
    return task;
  }
}
