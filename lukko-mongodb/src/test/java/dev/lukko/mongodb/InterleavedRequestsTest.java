package dev.lukko.mongodb;

import static dev.lukko.mongodb.Ask.exclusive;
import static dev.lukko.mongodb.Ask.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeSet;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.FaultProxy.Direction;
import dev.lukko.testkit.HeldPacket;
import dev.lukko.testkit.SoleFleet;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A request's write is on its way while something else happens at the server. */
class InterleavedRequestsTest {
  private static final ExtendReply EXTENDED = new ExtendReply.Extended();

  private static TestMongo mongo;

  private FaultProxy proxy;
  private MongoNode slow;
  private MongoNode other;

  @BeforeAll
  static void start() {
    mongo = TestMongo.inProcess();
  }

  @AfterAll
  static void stop() {
    mongo.close();
  }

  @BeforeEach
  void open() {
    mongo.forget();
    proxy = FaultProxy.to(mongo.address());
    slow =
        MongoNode.builder(TestMongo.url(proxy.port()))
            .requestTimeout(Duration.ofSeconds(30))
            .build();
    other = MongoNode.connect(mongo.url());
    SoleFleet.admit(slow);
    SoleFleet.status(other);
  }

  @AfterEach
  void close() {
    slow.close();
    other.close();
    proxy.close();
  }

  /** Holds the next write of this owner's. */
  private HeldPacket holdWrite(String owner) {
    return holdNext("update", owner);
  }

  private HeldPacket holdNext(String command, String owner) {
    return proxy.holdNext(
        Direction.TO_SERVER,
        packet -> {
          String text = new String(packet, StandardCharsets.ISO_8859_1);
          return text.contains(command) && text.contains(owner);
        });
  }

  private static void awaitArrival(HeldPacket held) throws Exception {
    held.arrival().get(40, TimeUnit.SECONDS);
  }

  private CompletableFuture<GrantReply> granting(LockEntry entry, long proposal) {
    return SoleFleet.grant(slow, new GrantRequest(entry, Ask.TTL, proposal)).toCompletableFuture();
  }

  /** Another client raises the epoch. */
  private void replaceRecord() {
    NodeStatus status = Ask.now(other.status());
    FleetRecord record = status.memory().records().get(0);
    NodeStatus after =
        Ask.now(
            other.admit(
                status,
                FleetChange.of(
                    record.in(record.epoch() + 1, record.set(), null, record.floor()),
                    FleetChange.AS_WRITTEN)));
    assertThat(after.memory().records().get(0).epoch()).isEqualTo(record.epoch() + 1);
    SoleFleet.status(other);
  }

  private void makeDocument(String resource) {
    LockEntry first = exclusive("the first", resource);
    assertThat(Ask.grant(other, first, 1)).isInstanceOf(Granted.class);
    Ask.release(other, first);
  }

  @Test
  void grantWhoseRecordIsReplacedBeforeItsWrite_isNotGranted_andLeavesNothing() throws Exception {
    makeDocument("r");
    LockEntry entry = exclusive("late-owner", "r");
    HeldPacket held = holdWrite("late-owner");
    CompletableFuture<GrantReply> reply = granting(entry, 500);
    awaitArrival(held);
    replaceRecord();
    held.release();
    assertThat(Ask.now(reply)).isInstanceOf(NotVoting.class);
    assertThat(((NotVoting) Ask.now(reply)).status().state()).isEqualTo(State.CHANGED);
    assertThat(mongo.document("r").containsKey("holder")).isFalse();
    assertThat(Ask.grant(other, exclusive("next", "r"), 600)).isInstanceOf(Granted.class);
  }

  @Test
  void firstGrantOfANameWhoseRecordIsReplacedBeforeItsWrite_isNotGranted() throws Exception {
    HeldPacket held = holdNext("insert", "late-owner");
    CompletableFuture<GrantReply> reply = granting(exclusive("late-owner", "fresh"), 500);
    awaitArrival(held);
    replaceRecord();
    held.release();
    assertThat(Ask.now(reply)).isInstanceOf(NotVoting.class);
    assertThat(mongo.document("fresh").containsKey("holder")).isFalse();
  }

  @Test
  void readersGrantWhoseRecordIsReplacedBeforeItsWrite_isNotGranted() throws Exception {
    makeDocument("r");
    HeldPacket held = holdWrite("late-reader");
    CompletableFuture<GrantReply> reply = granting(shared("late-reader", "r"), 500);
    awaitArrival(held);
    replaceRecord();
    held.release();
    assertThat(Ask.now(reply)).isInstanceOf(NotVoting.class);
    assertThat(mongo.document("r").getDocument("readers")).isEmpty();
  }

  @Test
  void extensionAndConfirmationWhoseRecordIsReplacedBeforeTheirWrites_areToldOfIt()
      throws Exception {
    LockEntry entry = exclusive("owner-x", "r");
    assertThat(Ask.grant(slow, entry, 5)).isEqualTo(new Granted(5));
    HeldPacket held = holdWrite("owner-x");
    CompletableFuture<ExtendReply> extended =
        slow.extend(SoleFleet.seen(slow, entry), Ask.TTL).toCompletableFuture();
    awaitArrival(held);
    replaceRecord();
    held.release();
    assertThat(Ask.now(extended)).isInstanceOf(NotVoting.class);

    SoleFleet.status(slow);
    held = holdWrite("owner-x");
    CompletableFuture<ConfirmReply> confirmed =
        slow.confirm(SoleFleet.seen(slow, entry), 9).toCompletableFuture();
    awaitArrival(held);
    replaceRecord();
    held.release();
    assertThat(Ask.now(confirmed)).isInstanceOf(NotVoting.class);
  }

  @Test
  void repairWhoseRecordIsReplacedBeforeItsWrite_isUnknown_andReleased() throws Exception {
    makeDocument("r");
    LockEntry entry = exclusive("owner-y", "r");
    HeldPacket held = holdWrite("owner-y");
    CompletableFuture<ExtendReply> repaired =
        slow.repair(SoleFleet.seen(slow, entry), Ask.TTL, 9, Long.MAX_VALUE).toCompletableFuture();
    awaitArrival(held);
    replaceRecord();
    held.release();
    assertThat(Ask.now(repaired)).isInstanceOf(Unknown.class);
    assertThat(Ask.release(slow, entry)).isInstanceOf(ReleaseReply.Released.class);
    assertThat(mongo.document("r").containsKey("holder")).isFalse();
  }

  /** What the store compares must be its own clock when it writes, and not when it was read. */
  @Test
  void repairThatIsStuckPastItsLastMoment_putsNothingBack() throws Exception {
    makeDocument("r");
    LockEntry entry = exclusive("owner-z", "r");
    ExtendReply.Missing missing = (ExtendReply.Missing) Ask.extend(slow, entry);
    long last = missing.atMillis() + 2_000;
    HeldPacket held = holdWrite("owner-z");
    CompletableFuture<ExtendReply> repaired =
        slow.repair(SoleFleet.seen(slow, entry), Ask.TTL, 9, last).toCompletableFuture();
    awaitArrival(held);
    await().until(() -> ((ExtendReply.Missing) Ask.extend(other, entry)).atMillis() > last);
    held.release();
    assertThat(Ask.now(repaired)).isInstanceOf(ExtendReply.Missing.class);
    assertThat(mongo.document("r").containsKey("holder")).isFalse();
  }

  @Test
  void grantBehindAnothersOnItsWay_isRefused() throws Exception {
    makeDocument("r");
    HeldPacket held = holdWrite("late-owner");
    CompletableFuture<GrantReply> reply = granting(exclusive("late-owner", "r"), 500);
    awaitArrival(held);
    assertThat(Ask.grant(other, exclusive("faster", "r"), 7)).isEqualTo(new Granted(7));
    held.release();
    assertThat(Ask.now(reply)).isInstanceOf(Refused.class);
    assertThat(mongo.document("r").getDocument("holder").getString("owner").getValue())
        .isEqualTo("faster");
  }

  @Test
  void writersGrantBehindAReadersOnItsWay_isRefused() throws Exception {
    makeDocument("r");
    HeldPacket held = holdWrite("late-owner");
    CompletableFuture<GrantReply> reply = granting(exclusive("late-owner", "r"), 500);
    awaitArrival(held);
    assertThat(Ask.grant(other, shared("a reader", "r"), 7)).isEqualTo(new Granted(7));
    held.release();
    assertThat(Ask.now(reply)).isInstanceOf(Refused.class);
  }

  @Test
  void readersGrantBehindAWritersOnItsWay_isRefused() throws Exception {
    makeDocument("r");
    HeldPacket held = holdWrite("late-reader");
    CompletableFuture<GrantReply> reply = granting(shared("late-reader", "r"), 500);
    awaitArrival(held);
    assertThat(Ask.grant(other, exclusive("a writer", "r"), 7)).isEqualTo(new Granted(7));
    held.release();
    assertThat(Ask.now(reply)).isInstanceOf(Refused.class);
    assertThat(mongo.document("r").containsKey("readers")).isFalse();
  }

  /** A repair need not raise the counter, on which a reader's grant rests besides. */
  @Test
  void readersGrantBehindAWritersRepairOnItsWay_isRefused() throws Exception {
    LockEntry first = exclusive("the first", "r");
    assertThat(Ask.grant(other, first, 9)).isEqualTo(new Granted(9));
    Ask.release(other, first);
    HeldPacket held = holdWrite("late-reader");
    CompletableFuture<GrantReply> reply = granting(shared("late-reader", "r"), 500);
    awaitArrival(held);
    assertThat(Ask.repair(other, exclusive("a writer", "r"), 5)).isEqualTo(EXTENDED);
    held.release();
    assertThat(Ask.now(reply)).isInstanceOf(Refused.class);
  }

  /** It would have joined a number that a writer has had meanwhile. */
  @Test
  void readersGrantBehindAWriterThatCameAndWent_getsAHigherNumber() throws Exception {
    LockEntry before = shared("a reader", "r");
    assertThat(Ask.grant(other, before, 7)).isEqualTo(new Granted(7));
    Ask.release(other, before);
    HeldPacket held = holdWrite("late-reader");
    CompletableFuture<GrantReply> reply = granting(shared("late-reader", "r"), 1);
    awaitArrival(held);
    LockEntry writer = exclusive("a writer", "r");
    assertThat(Ask.grant(other, writer, 1)).isEqualTo(new Granted(8));
    Ask.release(other, writer);
    held.release();
    assertThat(Ask.now(reply)).isEqualTo(new Granted(9));
  }

  /** Clearing away entries that have ended must not take one that was put back. */
  @Test
  void readerThatIsPutBackWhileItsOldEntryIsClearedAway_stays() throws Exception {
    LockEntry back = shared("comes back", "r");
    assertThat(Ask.grant(other, back, 7)).isEqualTo(new Granted(7));
    String until = "readers." + LockDocument.keyOf("comes back") + ".until";
    mongo.alter("r", "{$set: {'" + until + "': {$date: '2020-01-01T00:00:00Z'}}}");
    HeldPacket held = holdWrite("late-reader");
    CompletableFuture<GrantReply> reply = granting(shared("late-reader", "r"), 1);
    awaitArrival(held);
    assertThat(Ask.repair(other, back, 7)).isEqualTo(EXTENDED);
    held.release();
    assertThat(Ask.now(reply)).isEqualTo(new Granted(7));
    assertThat(Ask.extend(other, back)).isEqualTo(EXTENDED);
  }

  /** A read can come from a primary that does not know yet that its time is over. */
  @Test
  void whatIsThereAlreadyIsWrittenAllTheSameBeforeItIsAnsweredYes() throws Exception {
    LockEntry entry = exclusive("owner-w", "r");
    assertThat(Ask.grant(slow, entry, 5)).isEqualTo(new Granted(5));
    HeldPacket held = holdWrite("owner-w");
    CompletableFuture<GrantReply> again = granting(entry, 900);
    awaitArrival(held);
    replaceRecord();
    held.release();
    assertThat(Ask.now(again)).isInstanceOf(NotVoting.class);
    assertThat(Ask.extend(other, entry)).as("the first grant stands").isEqualTo(EXTENDED);

    SoleFleet.status(slow);
    held = holdWrite("owner-w");
    CompletableFuture<ConfirmReply> confirmed =
        slow.confirm(SoleFleet.seen(slow, entry), 5).toCompletableFuture();
    awaitArrival(held);
    Ask.release(other, entry);
    held.release();
    assertThat(Ask.now(confirmed)).isInstanceOf(ConfirmReply.NotHeld.class);
  }

  @Test
  void grantOfSeveralThatLosesTheSecondToAnother_leavesNothingAtTheFirst() throws Exception {
    makeDocument("a");
    makeDocument("b");
    HeldPacket held = holdWrite("both-owner");
    CompletableFuture<GrantReply> reply = granting(exclusive("both-owner", "a", "b"), 500);
    awaitArrival(held);
    assertThat(Ask.grant(other, exclusive("faster", "b"), 7)).isEqualTo(new Granted(7));
    held.release();
    assertThat(Ask.now(reply)).isInstanceOf(Refused.class);
    assertThat(mongo.document("a").containsKey("holder")).isFalse();
  }

  /** A grant that was given up must not go on to write when its read comes back. */
  @Test
  void grantThatIsWithdrawnWhileItReads_writesNothing() throws Exception {
    makeDocument("r");
    LockEntry entry = exclusive("withdrawn-owner", "r");
    HeldPacket held = holdNext("aggregate", "$$NOW");
    CompletableFuture<GrantReply> reply = granting(entry, 500);
    awaitArrival(held);
    CompletableFuture<ReleaseReply> released = slow.release(entry).toCompletableFuture();
    assertThat(Ask.now(reply)).isInstanceOf(NodeFault.class);
    held.release();
    assertThat(Ask.now(released)).isInstanceOf(ReleaseReply.NotHeld.class);
    await().until(slow::isQuiet);
    assertThat(mongo.document("r").containsKey("holder")).isFalse();
    assertThat(slow.openEntries()).isZero();
    assertThat(slow.keptReleases()).isZero();
  }

  @Test
  void nothingIsRememberedOfOwnersThatAreDone() {
    for (int i = 0; i < 20; i++) {
      LockEntry entry = exclusive("owner" + i, "r");
      assertThat(Ask.grant(other, entry, i + 1)).isInstanceOf(Granted.class);
      assertThat(Ask.grant(other, exclusive("refused" + i, "r"), 1)).isInstanceOf(Refused.class);
      Ask.release(other, entry);
    }
    assertThat(other.openEntries()).isZero();
    assertThat(other.keptReleases()).isZero();
  }

  @Test
  void admissionBehindAnothersOnItsWay_changesNothing() throws Exception {
    NodeStatus status = Ask.now(slow.status());
    FleetRecord record = status.memory().records().get(0);
    HeldPacket held = holdNext("update", "records");
    CompletableFuture<NodeStatus> late =
        slow.admit(
                status,
                FleetChange.of(
                    record.in(
                        record.epoch() + 1,
                        NodeSet.of(List.of("0123456789ab")),
                        null,
                        record.floor()),
                    600_000))
            .toCompletableFuture();
    awaitArrival(held);
    replaceRecord();
    held.release();
    assertThat(Ask.now(late).memory().records().get(0).members()).isEqualTo(record.members());
  }
}
