package dev.lukko.mongodb;

import static dev.lukko.mongodb.Ask.exclusive;
import static dev.lukko.mongodb.Ask.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.lukko.LockException;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Nodes on clients: the caller's own, with whatever settings, and those that they make. With each
 * line of the driver that the module's pom names.
 */
@Tag("driver-line")
class MongoClientsTest {
  private static TestMongo mongo;

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
  }

  @Test
  void clientOfTheCallersIsUsedSafely_whateverItIsSetTo_andStaysOpen() {
    List<BsonDocument> sent = new CopyOnWriteArrayList<>();
    MongoClientSettings unsafe =
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(mongo.url()))
            .writeConcern(WriteConcern.UNACKNOWLEDGED)
            .readPreference(ReadPreference.secondaryPreferred())
            .readConcern(ReadConcern.LINEARIZABLE)
            .addCommandListener(
                new CommandListener() {
                  @Override
                  public void commandStarted(CommandStartedEvent event) {
                    sent.add(event.getCommand().clone());
                  }
                })
            .build();
    try (MongoClient client = MongoClients.create(unsafe)) {
      try (MongoNode node = MongoNode.over(client)) {
        SoleFleet.admit(node);
        LockEntry entry = exclusive("me", "r");
        assertThat(Ask.grant(node, entry, 5)).isEqualTo(new Granted(5));
        Ask.extend(node, entry);
        Ask.confirm(node, entry, 6);
        assertThat(Ask.release(node, entry)).isInstanceOf(ReleaseReply.Released.class);
        Ask.repair(node, entry, 7);
        Ask.release(node, entry);
      }
      for (BsonDocument command : sent) {
        String name = command.getFirstKey();
        assertThat(command.containsKey("maxTimeMS")).as(name + " is bounded").isTrue();
        if (Set.of("insert", "update", "findAndModify", "createIndexes").contains(name)) {
          assertThat(command.getDocument("writeConcern"))
              .as(name)
              .containsEntry("w", new BsonString("majority"));
        }
        if (!command.getFirstKey().equals("createIndexes") && command.containsKey("writeConcern")) {
          assertThat(command.getDocument("writeConcern").getBoolean("j").getValue()).isTrue();
        }
        assertThat(command.getDocument("readConcern", new BsonDocument()).toJson())
            .as(name)
            .doesNotContain("linearizable");
      }
      assertThat(sent)
          .extracting(BsonDocument::getFirstKey)
          .contains("insert", "update", "findAndModify", "aggregate", "find", "createIndexes");
      client.getDatabase("lukko").listCollectionNames().into(new java.util.ArrayList<>());
    }
  }

  @Test
  void driverIsTheOneThatThisRunIsFor() {
    String expected = System.getProperty("lukko.mongodb.driver", "");
    assertThat(MongoClient.class.getProtectionDomain().getCodeSource().getLocation().getPath())
        .contains("mongodb-driver-sync-" + expected);
  }

  @Test
  void nodeOfItsOwnClientIsNamedByItsAddress_andEndsIt() {
    MongoNode node = MongoNode.connect(mongo.url());
    assertThat(node.name())
        .isEqualTo("mongodb://127.0.0.1:" + mongo.address().getPort() + "/lukko");
    node.close();
    node.close();
    assertThat(Ask.now(node.status()).state()).isEqualTo(NodeStatus.State.UNREACHABLE);
    assertThat(Ask.grant(node, exclusive("me", "r"), 5)).isInstanceOf(Failed.class);
    assertThatThrownBy(() -> node.inspect("r").toCompletableFuture().join())
        .hasMessageContaining("closed");
  }

  @Test
  void nodeOfACallersClientIsNamedByItsAddress() {
    try (MongoNode node = MongoNode.builder(mongo.client()).database("elsewhere").build()) {
      assertThat(node.name())
          .isEqualTo("mongodb://127.0.0.1:" + mongo.address().getPort() + "/elsewhere");
    }
  }

  @Test
  void collectionsAreStoresOfTheirOwn() {
    try (MongoNode one = MongoNode.connect(mongo.url());
        MongoNode again = MongoNode.builder(mongo.client()).name("again").build();
        MongoNode other = MongoNode.builder(mongo.url()).collection("other").build()) {
      String identity = Ask.now(one.status()).identity().orElseThrow();
      assertThat(Ask.now(again.status()).identity()).hasValue(identity);
      assertThat(Ask.now(other.status()).identity()).isPresent().isNotEqualTo(identity);
      assertThatThrownBy(
              () -> Redlock.builder().node(one).node(again).closeNodes(false).build().close())
          .isInstanceOf(LockException.class)
          .hasMessageContaining("same server");
    }
  }

  @Test
  void indexForTheCleanUpIsMade_andOneOfAnotherRetentionIsWarnedOf() {
    try (MongoNode node = MongoNode.connect(mongo.url())) {
      assertThat(Ask.now(node.status()).warnings()).isEmpty();
      BsonDocument index =
          mongo.locks().listIndexes(BsonDocument.class).into(new java.util.ArrayList<>()).stream()
              .filter(each -> each.getString("name").getValue().equals("lukko_clean_up"))
              .findFirst()
              .orElseThrow();
      assertThat(index.getDocument("key")).containsOnlyKeys("endsAt");
      assertThat(index.getNumber("expireAfterSeconds").longValue()).isEqualTo(7 * 86_400);
    }
  }

  /** The index must not take what is held, or a counter that a client's clock has put ahead. */
  @Test
  void documentSaysUntilWhenItIsNeeded() {
    try (MongoNode node = MongoNode.connect(mongo.url())) {
      SoleFleet.admit(node);
      LockEntry entry = exclusive("me", "r");
      Ask.grant(node, entry, 5);
      BsonDocument stored = mongo.document("r");
      assertThat(stored.getDateTime("endsAt"))
          .isEqualTo(stored.getDocument("holder").getDateTime("until"));
      Ask.now(node.extend(SoleFleet.seen(node, entry), 10 * Ask.TTL));
      stored = mongo.document("r");
      assertThat(stored.getDateTime("endsAt"))
          .isEqualTo(stored.getDocument("holder").getDateTime("until"));
      long ahead = 4_000_000_000_000L;
      Ask.confirm(node, entry, ahead * 1_000);
      assertThat(mongo.document("r").getDateTime("endsAt").getValue()).isEqualTo(ahead);
      Ask.release(node, entry);
      assertThat(Ask.grant(node, shared("reader", "r"), 1)).isInstanceOf(Granted.class);
      assertThat(mongo.document("r").getDateTime("endsAt").getValue()).isEqualTo(ahead);
    }
  }

  @Test
  void weakerWriteConcernIsWarnedOf_andRefusedByStrictClients_andUnacknowledgedOnesByAll() {
    try (MongoNode node =
        MongoNode.builder(mongo.url()).name("weak").writeConcern(WriteConcern.W1).build()) {
      assertThat(Ask.now(node.status()).warnings())
          .hasSize(2)
          .anyMatch(each -> each.contains("not majority") && each.contains("failover"))
          .anyMatch(each -> each.contains("journal") && each.contains("crash"));
      assertThatThrownBy(
              () -> Redlock.builder().node(node).strict(true).closeNodes(false).build().close())
          .isInstanceOf(LockException.class)
          .hasMessageContainingAll("weak", "strict", "majority");
    }
    assertThatThrownBy(
            () -> MongoNode.builder(mongo.url()).writeConcern(WriteConcern.UNACKNOWLEDGED))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("writeConcern");
  }

  @Test
  void serverThatIsDownIsNoError_andTheNodeJoinsWhenItIsUp() {
    FaultProxy proxy = FaultProxy.to(mongo.address());
    proxy.refuseConnections();
    try (MongoNode node =
        MongoNode.builder(TestMongo.url(proxy.port()))
            .requestTimeout(Duration.ofMillis(300))
            .build()) {
      assertThat(Ask.now(node.status()).state()).isEqualTo(NodeStatus.State.UNREACHABLE);
      GrantReply reply = Ask.grant(node, exclusive("me", "r"), 5);
      assertThat(reply).isInstanceOf(Failed.class);
      proxy.heal();
      await().until(() -> SoleFleet.admit(node).state() == NodeStatus.State.VOTING);
      await().until(() -> Ask.grant(node, exclusive("me", "r"), 5) instanceof Granted);
    } finally {
      proxy.close();
    }
  }

  @Test
  void moreRequestsThanTheNodeTakesFailAtOnce() {
    FaultProxy proxy = FaultProxy.to(mongo.address());
    try (MongoNode node =
        MongoNode.builder(TestMongo.url(proxy.port()))
            .maxConnections(1)
            .queueCapacity(1)
            .requestTimeout(Duration.ofSeconds(2))
            .build()) {
      SoleFleet.admit(node);
      proxy.hold();
      var one = node.inspect("r").toCompletableFuture();
      var two = node.inspect("r").toCompletableFuture();
      GrantReply third = Ask.grant(node, exclusive("me", "r"), 5);
      assertThat(third).isInstanceOf(Failed.class);
      assertThat(((NodeFault) third).detail()).contains("queue full");
      proxy.heal();
      await().until(() -> one.isDone() && two.isDone());
    } finally {
      proxy.close();
    }
  }

  @Test
  void settingsOutOfRangeAreRefusedByName() {
    MongoNodeBuilder builder = MongoNode.builder(mongo.client());
    assertThatThrownBy(() -> builder.name("")).hasMessageContaining("name is \"\"");
    assertThatThrownBy(() -> builder.database("a.b")).hasMessageContaining("database is \"a.b\"");
    assertThatThrownBy(() -> builder.database("")).hasMessageContaining("database is \"\"");
    assertThatThrownBy(() -> builder.collection("system.x"))
        .hasMessageContaining("collection is \"system.x\"");
    assertThatThrownBy(() -> builder.collection("a$b")).hasMessageContaining("collection is");
    assertThatThrownBy(() -> builder.maxConnections(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxConnections is 0; it must be between 1 and 64");
    assertThatThrownBy(() -> builder.queueCapacity(-1)).hasMessageContaining("queueCapacity is -1");
    assertThatThrownBy(() -> builder.requestTimeout(Duration.ZERO))
        .hasMessageContaining("requestTimeout is PT0S");
    assertThatThrownBy(() -> builder.counterRetention(Duration.ofMillis(999)))
        .hasMessageContaining("counterRetention is PT0.999S");
  }
}
