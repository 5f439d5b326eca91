package dev.lukko.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.lukko.LockException;
import dev.lukko.fencing.KeyClaimLostException;
import dev.lukko.fencing.KeyInProgressException;
import dev.lukko.fencing.KeyReusedException;
import dev.lukko.fencing.RequestFingerprint;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("driver-line")
class MongoIdempotencyKeysTest {
  private static final RequestFingerprint REQUEST = RequestFingerprint.of("pay 100 to bob");
  private static final AtomicInteger LOOKS = new AtomicInteger();

  private static TestMongo mongo;
  private static MongoClient client;

  private final MongoIdempotencyKeys keys =
      MongoIdempotencyKeys.over(client.getDatabase("lukko")).maxWait(Duration.ofMinutes(1));
  private final AtomicInteger runs = new AtomicInteger();

  @BeforeAll
  static void start() {
    mongo = TestMongo.inProcess();
    client =
        MongoClients.create(
            MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(mongo.url()))
                .addCommandListener(
                    new CommandListener() {
                      @Override
                      public void commandStarted(CommandStartedEvent event) {
                        if (event.getCommandName().equals("aggregate")) {
                          LOOKS.incrementAndGet();
                        }
                      }
                    })
                .build());
  }

  @AfterAll
  static void stop() {
    client.close();
    mongo.close();
  }

  @BeforeEach
  void empty() {
    mongo.forget();
  }

  private static long documents() {
    return mongo.database().getCollection(MongoIdempotencyKeys.COLLECTION).countDocuments();
  }

  private static void alter(String update) {
    mongo
        .database()
        .getCollection(MongoIdempotencyKeys.COLLECTION)
        .updateOne(new Document("_id", "key"), Document.parse(update));
  }

  /** As if the time of the claim were over. */
  private static void endClaim() {
    alter("{$set: {claimedAt: {$date: '2020-01-01T00:00:00Z'}}}");
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

  @Test
  void repeatReturnsTheStoredResultWithoutDoingTheWork() throws Exception {
    assertThat(keys.runOnce("key", REQUEST, work("receipt"))).isEqualTo("receipt");
    assertThat(keys.runOnce("key", REQUEST, work("another"))).isEqualTo("receipt");
    assertThat(keys.runOnce("none", REQUEST, work(null))).isNull();
    assertThat(keys.runOnce("none", REQUEST, work("x"))).isNull();
    assertThat(keys.runOnce("$empty.", REQUEST, work(""))).isEmpty();
    assertThat(keys.runOnce("$empty.", REQUEST, work("x"))).isEmpty();
    assertThat(runs).hasValue(3);
  }

  @Test
  void failedRunLeavesNothing_andTheNextOneDoesTheWork() throws Exception {
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    () -> {
                      assertThat(documents()).isEqualTo(1);
                      throw new IOException("failed");
                    }))
        .isInstanceOf(IOException.class)
        .hasNoSuppressedExceptions();
    assertThat(documents()).isZero();
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
  void concurrentRepeatWaits_andGetsTheResult() throws Exception {
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
    int looks = LOOKS.get();
    FutureTask<String> repeat = start(() -> keys.runOnce("key", REQUEST, work("twice")));
    await().until(() -> LOOKS.get() >= looks + 2);
    goOn.countDown();

    assertThat(first.get(60, TimeUnit.SECONDS)).isEqualTo("done");
    assertThat(repeat.get(60, TimeUnit.SECONDS)).isEqualTo("done");
    assertThat(runs).hasValue(1);
  }

  @Test
  void repeatGivesUpWhenTheFirstDoesNotEndWithinTheWait() {
    MongoIdempotencyKeys impatient = keys.maxWait(Duration.ZERO);
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key", REQUEST, () -> impatient.runOnce("key", REQUEST, work("twice"))))
        .isInstanceOfSatisfying(
            KeyInProgressException.class, busy -> assertThat(busy.key()).isEqualTo("key"));
    assertThat(runs).hasValue(0);
  }

  @Test
  void interruptedWaitThrowsThatTheKeyIsInProgress_andKeepsTheFlag() throws Exception {
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
          int looks = LOOKS.get();
          repeat.start();
          await().until(() -> LOOKS.get() > looks);
          repeat.interrupt();
          repeat.join(60_000);
          assertThat(repeat.isAlive()).isFalse();
          return "once";
        });
    assertThat(thrown.get()).isInstanceOf(KeyInProgressException.class);
    assertThat(flag).isTrue();
    assertThat(runs).hasValue(0);
  }

  @Test
  void workThatEndsWithTheFlagSetHasItsResultStored_orItsClaimTakenBack() throws Exception {
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
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "other",
                    REQUEST,
                    () -> {
                      Thread.currentThread().interrupt();
                      throw new IllegalStateException("broke off");
                    }))
        .hasMessage("broke off")
        .hasNoSuppressedExceptions();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(keys.runOnce("other", REQUEST, work("again"))).isEqualTo("again");
  }

  @Test
  void claimOfADeadProcessRunsOut_andARepeatDoesTheWork_alsoForAnotherRequest() throws Exception {
    RequestFingerprint other = RequestFingerprint.of("another");
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    () -> {
                      endClaim();
                      assertThat(keys.runOnce("key", other, work("second"))).isEqualTo("second");
                      return "first";
                    }))
        .isInstanceOfSatisfying(
            KeyClaimLostException.class,
            lost -> {
              assertThat(lost.key()).isEqualTo("key");
              assertThat(lost.result()).hasValue("first");
            });
    assertThat(keys.runOnce("key", other, work("third"))).isEqualTo("second");
  }

  @Test
  void workThatOutlivesItsClaimKeepsItsKeyWhileNobodyElseWantsIt() throws Exception {
    assertThat(
            keys.runOnce(
                "key",
                REQUEST,
                () -> {
                  endClaim();
                  return "late";
                }))
        .isEqualTo("late");
    assertThat(keys.runOnce("key", REQUEST, work("twice"))).isEqualTo("late");
  }

  @Test
  void failedWorkThatOutlivedItsClaimDoesNotTakeTheOthersBack() throws Exception {
    assertThatThrownBy(
            () ->
                keys.runOnce(
                    "key",
                    REQUEST,
                    () -> {
                      endClaim();
                      keys.runOnce("key", REQUEST, work("second"));
                      throw new IOException("failed late");
                    }))
        .isInstanceOf(IOException.class);
    assertThat(keys.runOnce("key", REQUEST, work("third"))).isEqualTo("second");
  }

  @Test
  void ofManyAtOnceOneDoesTheWork_alsoOverAClaimThatHasEnded() throws Exception {
    for (boolean ended : new boolean[] {false, true}) {
      mongo.forget();
      runs.set(0);
      if (ended) {
        mongo
            .database()
            .getCollection(MongoIdempotencyKeys.COLLECTION)
            .insertOne(
                Document.parse(
                    "{_id: 'key', owner: 'dead', request: '"
                        + REQUEST.value()
                        + "', done: false, ttl: {$numberLong: '1'}, claimedAt: {$date:"
                        + " '2020-01-01T00:00:00Z'}}"));
      }
      java.util.List<FutureTask<String>> all = new java.util.ArrayList<>();
      for (int i = 0; i < 12; i++) {
        all.add(start(() -> keys.runOnce("key", REQUEST, work("done"))));
      }
      for (FutureTask<String> one : all) {
        assertThat(one.get(60, TimeUnit.SECONDS)).isEqualTo("done");
      }
      assertThat(runs).hasValue(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{$set: {request: 7}}",
        "{$unset: {request: ''}}",
        "{$set: {request: 'none'}}",
        "{$unset: {done: ''}}",
        "{$set: {done: 1}}",
        "{$set: {result: 7}}",
        "{$set: {done: false, owner: 7}}",
        "{$set: {done: false, claimedAt: 'then'}}",
        "{$set: {done: false, ttl: 'long'}}",
      })
  void documentThatWasAlteredIsAnErrorThatNamesTheKey(String alteration) throws Exception {
    keys.runOnce("key", REQUEST, work("done"));
    alter(alteration);
    assertThatThrownBy(() -> keys.runOnce("key", REQUEST, work("x")))
        .isExactlyInstanceOf(LockException.class)
        .hasMessageContainingAll("\"key\"", "altered");
    assertThat(runs).hasValue(1);
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
        .isThrownBy(() -> keys.timeout(Duration.ZERO))
        .withMessageContaining("timeout");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> keys.createIndex(Duration.ofHours(23)))
        .withMessageContaining("retention");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> keys.runOnce("", REQUEST, work("x")))
        .withMessageContaining("key");
    keys.createIndex(Duration.ofDays(7));
  }
}
