package dev.lukko.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockEvent;
import dev.lukko.LockException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.testkit.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Clients that share servers, servers that forget, and different sets of nodes: never two holders
 * of one lock in a fleet.
 */
class MongoFleetsTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final LockRequest JOB =
      LockRequest.builder("job").ttl(LONG).maxWait(Duration.ZERO).build();
  private static final List<TestMongo> SERVERS = new ArrayList<>();

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void start() {
    for (int i = 0; i < 5; i++) {
      SERVERS.add(TestMongo.inProcess());
    }
  }

  @AfterAll
  static void stop() {
    SERVERS.forEach(TestMongo::close);
    SERVERS.clear();
  }

  @BeforeEach
  void empty() {
    SERVERS.forEach(TestMongo::forget);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private static MongoNode node(int server, String url) {
    return MongoNode.builder(url)
        .name("mongo-" + server)
        .requestTimeout(Duration.ofSeconds(10))
        .build();
  }

  private Redlock client(UnaryOperator<RedlockBuilder> settings, MongoNode... nodes) {
    RedlockBuilder builder = Redlock.builder().releaseOnClose(false).retryCount(0);
    Redlock client =
        settings.apply(builder.nodes(List.of(nodes)).nodeTimeout(Duration.ofSeconds(5))).build();
    open.add(0, client);
    return client;
  }

  private Redlock client(UnaryOperator<RedlockBuilder> settings, int... servers) {
    MongoNode[] nodes = new MongoNode[servers.length];
    for (int i = 0; i < servers.length; i++) {
      nodes[i] = node(servers[i], SERVERS.get(servers[i]).url());
    }
    return client(settings, nodes);
  }

  private Redlock client(int... servers) {
    return client(builder -> builder, servers);
  }

  private static boolean isHeldAt(int server) {
    var document = SERVERS.get(server).document("job");
    return document != null && document.containsKey("holder");
  }

  private static void assertRefused(Redlock client) {
    assertThatThrownBy(() -> client.acquire(JOB))
        .isInstanceOfAny(LockNotAcquiredException.class, QuorumUnavailableException.class);
  }

  /** A holder at two of three servers, of which the third could not be reached. */
  private Lease heldAtTheFirstTwo() {
    FaultProxy third = FaultProxy.to(SERVERS.get(2).address());
    open.add(third);
    Redlock holder =
        client(
            builder -> builder,
            node(0, SERVERS.get(0).url()),
            node(1, SERVERS.get(1).url()),
            node(2, TestMongo.url(third.port())));
    third.cut();
    Lease lease = holder.acquire(JOB);
    assertThat(isHeldAt(2)).isFalse();
    return lease;
  }

  @Test
  void neighbourWithOneNodeDoesNotEndTheQuarantineOfAServerThatForgot() {
    client(0, 1, 2);
    Lease lease = heldAtTheFirstTwo();
    SERVERS.get(0).forget();
    LockRequest other = LockRequest.builder("other").ttl(LONG).build();
    client(0).acquire(other).release();
    for (int i = 0; i < 3; i++) {
      assertRefused(client(0, 1, 2));
    }
    assertThat(isHeldAt(0)).as("a vote").isFalse();
    assertThat(lease.isValid()).isTrue();
  }

  /** What the guide says for a database that was restored: its document of fleets is deleted. */
  @Test
  void restoredDatabaseWithoutItsRecordsIsQuarantined() {
    client(0, 1, 2);
    Lease lease = heldAtTheFirstTwo();
    SERVERS.get(0).locks().deleteOne(org.bson.BsonDocument.parse("{_id: 'job'}"));
    SERVERS.get(0).locks().deleteOne(FleetDocument.filter());
    for (int i = 0; i < 3; i++) {
      assertRefused(client(0, 1, 2));
    }
    assertThat(isHeldAt(0)).as("a vote").isFalse();
    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void serverThatForgetsWhileAClientRunsHasNoVote_andTheOthersGoOn() {
    Redlock client = client(0, 1, 2);
    client.acquire(JOB).release();
    SERVERS.get(0).forget();
    Lease lease = client.acquire(JOB);
    assertThat(lease.isValid()).as("by the other two").isTrue();
    assertThat(isHeldAt(0)).as("a vote").isFalse();
    assertThat(lease.extend(LONG)).isTrue();
  }

  @Test
  void onlyServerOfAClientIsANewDeploymentAfterItForgot_andAStrictOneWaits() {
    Redlock client = client(0);
    client.acquire(JOB);
    SERVERS.get(0).forget();
    await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> client.acquire(JOB) != null);
    SERVERS.get(0).forget();
    assertRefused(client(builder -> builder.strict(true), 0));
  }

  @Test
  void differentNodeSetsExcludeEachOther_areTold_andRefusedInStrictMode() {
    List<LockEvent> told = new CopyOnWriteArrayList<>();
    Redlock three = client(0, 1, 2);
    Lease lease = three.acquire(JOB);
    UnaryOperator<RedlockBuilder> listening = builder -> builder.listener(told::add);
    Redlock five = client(listening, 0, 1, 2, 3, 4);
    await().until(() -> told.stream().anyMatch(LockEvent.NodesDiffer.class::isInstance));
    assertRefused(five);
    lease.release();
    five.acquire(JOB);
    assertRefused(three);
    assertThatThrownBy(() -> client(b -> b.strict(true), 0, 1, 2, 3, 4))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("refused in strict mode")
        .hasMessageContaining("lists 5 nodes");
    client(listening, 1);
    await().until(() -> told.stream().anyMatch(LockEvent.FleetsOverlap.class::isInstance));
    assertThat(told).anySatisfy(event -> assertThat(event.toString()).contains("this node alone"));
  }
}
