package dev.lukko.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Updates;
import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("driver-line")
class MongoFenceTest {
  private static TestMongo mongo;

  private final MongoFence fence = MongoFence.over(mongo.database());
  private final MongoCollection<Document> accounts = mongo.database().getCollection("account");

  @BeforeAll
  static void start() {
    mongo = TestMongo.inProcess();
  }

  @AfterAll
  static void stop() {
    mongo.close();
  }

  @BeforeEach
  void empty() {
    mongo.forget();
    accounts.insertOne(Document.parse("{_id: 7, balance: 100}"));
  }

  private boolean write(MongoFence by, String text, long token) {
    return by.update(accounts, 7, Updates.set("text", text), token);
  }

  private String text() {
    return accounts.find(Document.parse("{_id: 7}")).first().getString("text");
  }

  private static BsonDocument stored(String resource) {
    return mongo
        .database()
        .getCollection(MongoFence.COLLECTION, BsonDocument.class)
        .find(new Document("_id", resource))
        .first();
  }

  @Test
  void lowerTokenAfterAHigherIsRefusedWithBothNumbers_andWritesNothing() {
    assertThat(write(fence, "by 34", 34)).isTrue();
    assertThatThrownBy(() -> write(fence, "by 33", 33))
        .isInstanceOfSatisfying(
            StaleTokenException.class,
            stale -> {
              assertThat(stale.resource()).isEqualTo("account 7");
              assertThat(stale.token()).isEqualTo(33);
              assertThat(stale.highest()).isEqualTo(34);
            });
    assertThat(text()).isEqualTo("by 34");

    fence.check("account", 34);
    assertThatThrownBy(() -> fence.check("account", 33))
        .isInstanceOfSatisfying(
            StaleTokenException.class,
            stale -> {
              assertThat(stale.resource()).isEqualTo("account");
              assertThat(stale.highest()).isEqualTo(34);
            });
    assertThatThrownBy(() -> fence.touch("account", 33)).isInstanceOf(StaleTokenException.class);
    assertThat(stored("account").getInt64("token").getValue()).isEqualTo(34);
  }

  @Test
  void holderWritesTwiceByDefault_andOnceWhenStrict() {
    write(fence, "1", 34);
    write(fence, "2", 34);
    assertThat(text()).isEqualTo("2");
    assertThatThrownBy(() -> write(fence.strict(), "3", 34))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("used already");
    assertThat(write(fence.strict(), "4", 35)).isTrue();

    MongoFence strict = fence.strict();
    strict.touch("b", 34);
    strict.check("b", 34);
    assertThatThrownBy(() -> strict.check("b", 34))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("used already");
    strict.touch("b", 34);
    strict.check("b", 35);
    fence.check("b", 35);
  }

  @Test
  void readByTheNewHolderRaisesTheFence() {
    fence.check("account", 33);
    fence.touch("account", 34);
    assertThatThrownBy(() -> fence.check("account", 33)).isInstanceOf(StaleTokenException.class);
  }

  @Test
  void documentThatIsNotThereIsSaid_andNotMade() {
    assertThat(fence.update(accounts, 8, Updates.set("text", "x"), 34)).isFalse();
    assertThat(accounts.countDocuments()).isEqualTo(1);
  }

  @Test
  void leaseOverSeveralResourcesChecksEachWithItsOneToken() {
    try (Redlock locks = Redlock.over(new InMemoryNode());
        Lease lease =
            locks.acquire(LockRequest.builder("a", "b").ttl(Duration.ofMinutes(1)).build())) {
      fence.check(lease);
      assertThat(fence.update(accounts, 7, Updates.set("text", "x"), lease)).isTrue();
      fence.touch("b", lease.fencingToken() + 1);
      assertThatThrownBy(() -> fence.check(lease))
          .isInstanceOfSatisfying(
              StaleTokenException.class, stale -> assertThat(stale.resource()).isEqualTo("b"));
    }
  }

  @Test
  void tokensAreComparedExactlyUpToTheHighestLong() {
    for (long token : new long[] {1L << 53, (1L << 53) + 1, Long.MAX_VALUE - 1, Long.MAX_VALUE}) {
      fence.check("account", token);
      write(fence, "x", token);
      assertThatThrownBy(() -> fence.check("account", token - 1))
          .isInstanceOf(StaleTokenException.class);
      assertThatThrownBy(() -> write(fence, "x", token - 1))
          .isInstanceOf(StaleTokenException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"$token", "a.b", "$$NOW", "_id", "{$gt: 0}", "A", "a", "0"})
  void namesAreNothingButNames(String name) {
    fence.check(name, 34);
    assertThat(stored(name).getInt64("token").getValue()).isEqualTo(34);
    assertThatThrownBy(() -> fence.check(name, 33)).isInstanceOf(StaleTokenException.class);
    fence.check(name + "x", 1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"'garbage'", "1.5", "[]", "{}", "true", "{$date: '2020-01-01T00:00:00Z'}"})
  void fenceThatHoldsGarbageIsAnError_andNothingIsWritten(String garbage) {
    mongo
        .database()
        .getCollection(MongoFence.COLLECTION)
        .insertOne(Document.parse("{_id: 'account', token: " + garbage + "}"));
    accounts.updateOne(
        Document.parse("{_id: 7}"), Document.parse("{$set: {fence: " + garbage + "}}"));
    // A number that is none of Lukko's is compared as one, and refuses what is below it only.
    long token = garbage.equals("1.5") ? 1 : 34;
    assertThatThrownBy(() -> fence.check("account", token))
        .isExactlyInstanceOf(LockException.class)
        .hasMessageContainingAll("account", "no token");
    assertThatThrownBy(() -> write(fence, "x", token))
        .isExactlyInstanceOf(LockException.class)
        .hasMessageContainingAll("account 7", "no token");
    assertThat(text()).isNull();
  }

  @Test
  void argumentsThatCannotBeRightAreRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fence.check("", 1))
        .withMessageContaining("resource");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fence.check("a", 0))
        .withMessageContaining("token is 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> write(fence, "x", -1))
        .withMessageContaining("token is -1");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                fence.update(
                    accounts.withWriteConcern(WriteConcern.UNACKNOWLEDGED),
                    7,
                    Updates.set("text", "x"),
                    1))
        .withMessageContaining("writeConcern");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fence.timeout(Duration.ZERO))
        .withMessageContaining("timeout is PT0S");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fence.createIndex(Duration.ofMillis(999)))
        .withMessageContaining("retention is PT0.999S");
  }

  @Test
  void indexForgetsAfterTheLastContact() {
    fence.createIndex(Duration.ofDays(7));
    fence.createIndex(Duration.ofDays(7));
    fence.touch("account", 34);
    assertThat(stored("account").isDateTime("contactAt")).isTrue();
  }

  @Test
  void manyWritersInAnyOrderLeaveTheValueOfTheHighestToken() throws Exception {
    List<Long> tokens = new ArrayList<>();
    for (long token = 1; token <= 200; token++) {
      tokens.add(token);
      tokens.add(token);
    }
    Collections.shuffle(tokens, new Random(7));
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (long token : tokens) {
        all.add(
            pool.submit(
                () -> {
                  try {
                    write(fence, Long.toString(token), token);
                    fence.check("account", token);
                  } catch (StaleTokenException stale) {
                    assertThat(stale.highest()).isGreaterThan(token);
                  }
                }));
      }
      for (Future<?> one : all) {
        one.get(60, TimeUnit.SECONDS);
      }
    } finally {
      pool.shutdownNow();
    }
    assertThat(text()).isEqualTo("200");
    assertThat(stored("account").getInt64("token").getValue()).isEqualTo(200);
  }
}
