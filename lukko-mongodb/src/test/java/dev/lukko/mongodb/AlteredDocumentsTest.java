package dev.lukko.mongodb;

import static dev.lukko.mongodb.Ask.exclusive;
import static dev.lukko.mongodb.Ask.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeStatus;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another program has written into the collection: an error of the request that meets it. */
class AlteredDocumentsTest {
  private static final LockEntry HOLDS = exclusive("holds", "r");

  private static TestMongo mongo;

  private MongoNode node;

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
    node = MongoNode.connect(mongo.url());
    SoleFleet.admit(node);
    assertThat(Ask.grant(node, HOLDS, 5)).isEqualTo(new Granted(5));
  }

  @AfterEach
  void close() {
    node.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{$set: {holder: 7}}",
        "{$set: {holder: 'me'}}",
        "{$set: {holder: []}}",
        "{$set: {holder: {}}}",
        "{$set: {'holder.owner': 7}}",
        "{$unset: {'holder.owner': ''}}",
        "{$set: {'holder.until': 'tomorrow'}}",
        "{$set: {'holder.until': {$numberLong: '4000000000000'}}}",
        "{$set: {'holder.until': null}}",
        "{$unset: {'holder.until': ''}}",
        "{$set: {'holder.number': 'five'}}",
        "{$set: {'holder.number': -5}}",
        "{$set: {'holder.number': 1.5}}",
        "{$set: {'holder.number': null}}",
        "{$set: {readers: 7}}",
        "{$set: {readers: ['me']}}",
        "{$set: {'readers.x': 7}}",
        "{$set: {'readers.x': {owner: 'me'}}}",
        "{$set: {'readers.x': {owner: 'me', until: 7}}}",
      })
  void isAnErrorOfItsOwnRequest_neverAGrant_andNothingIsWritten(String alteration) {
    mongo.alter("r", alteration);
    BsonDocument before = mongo.document("r");
    LockEntry other = exclusive("other", "r");

    GrantReply refused = Ask.grant(node, other, 9);
    assertThat(refused).isInstanceOf(Failed.class);
    assertThat(((Failed) refused).detail()).startsWith("ALTERED").contains("\"r\"");
    assertThat(Ask.grant(node, shared("reader", "r"), 9)).isInstanceOf(Failed.class);
    assertThat(Ask.confirm(node, HOLDS, 9)).isInstanceOf(Failed.class);
    assertThat(Ask.extend(node, HOLDS)).isInstanceOf(Failed.class);
    assertThat(Ask.repair(node, HOLDS, 9)).isInstanceOf(Failed.class);
    assertThatThrownBy(() -> node.inspect("r").toCompletableFuture().join())
        .hasMessageContaining("ALTERED");
    assertThat(mongo.document("r")).isEqualTo(before);

    assertThat(Ask.grant(node, exclusive("other", "elsewhere"), 9)).isEqualTo(new Granted(9));
    assertThat(Ask.grant(node, exclusive("other", "r", "s"), 9)).isInstanceOf(Failed.class);
    assertThat(mongo.document("s")).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{$set: {holder: null}}",
        "{$unset: {holder: ''}}",
        "{$set: {holder: null, readers: null}}",
        "{$set: {holder: null, v: null}}",
        "{$set: {holder: null, v: {$literal: 1}}}",
        "{$unset: {holder: '', v: '', endsAt: ''}}",
      })
  void whatMeansThatNobodyHolds_isFree(String alteration) {
    mongo.alter("r", alteration.replace("$literal", "x"));
    assertThat(Ask.grant(node, shared("reader", "r"), 1)).isEqualTo(new Granted(6));
    assertThat(Ask.release(node, shared("reader", "r"))).isNotInstanceOf(Failed.class);
    assertThat(Ask.grant(node, exclusive("other", "r"), 9)).isEqualTo(new Granted(9));
  }

  /** As the shell writes them. */
  @ParameterizedTest
  @ValueSource(strings = {"7", "7.0", "{$numberLong: '7'}"})
  void counterOfAnyNumericTypeIsOne(String counter) {
    mongo.alter("r", "{$set: {counter: " + counter + "}, $unset: {holder: ''}}");
    assertThat(Ask.grant(node, exclusive("other", "r"), 1)).isEqualTo(new Granted(8));
  }

  /** Text sorts above all numbers; and what is no number in range must not become a floor. */
  @Test
  void highestCounterIsThatOfTheNumbers_andAnErrorIfThatIsNone() {
    assertThat(Ask.grant(node, exclusive("other", "s"), 900)).isEqualTo(new Granted(900));
    mongo.alter("r", "{$set: {counter: 'many'}}");
    assertThat(Ask.now(node.highestCounter())).isEqualTo(900);
    mongo.alter("r", "{$set: {counter: {$numberLong: '9007199254740992'}}}");
    assertThatThrownBy(() -> node.highestCounter().toCompletableFuture().join())
        .hasMessageContaining("ALTERED");
    mongo.forget();
    assertThat(Ask.now(node.highestCounter())).isZero();
  }

  /** The mark names the counter, so that whatever changes the counter alone takes it away. */
  @Test
  void counterThatWasChangedWithoutItsMark_isNotJoinedByReaders() {
    Ask.release(node, HOLDS);
    assertThat(Ask.grant(node, shared("a", "r"), 1)).isEqualTo(new Granted(6));
    assertThat(Ask.grant(node, shared("b", "r"), 1)).isEqualTo(new Granted(6));
    mongo.alter("r", "{$set: {counter: 7}}");
    assertThat(Ask.grant(node, shared("c", "r"), 1)).isEqualTo(new Granted(8));
  }

  @Test
  void entryThatClaimsMoreTimeThanItWasGiven_endsWhenThatIsOver() {
    mongo.alter("r", "{$set: {'holder.until': {$date: '2999-01-01T00:00:00Z'}}}");
    Refused refused = (Refused) Ask.grant(node, exclusive("other", "r"), 9);
    assertThat(refused.holder().remaining().orElseThrow())
        .isLessThanOrEqualTo(Duration.ofMillis(Ask.TTL));
    Ask.release(node, HOLDS);
    assertThat(Ask.grant(node, shared("reader", "r"), 9)).isInstanceOf(Granted.class);
    String until = "readers." + LockDocument.keyOf("reader") + ".until";
    mongo.alter("r", "{$set: {'" + until + "': {$date: '2999-01-01T00:00:00Z'}}}");
    assertThat(Ask.now(node.inspect("r")).holders().get(0).remaining().orElseThrow())
        .isLessThanOrEqualTo(Duration.ofMillis(Ask.TTL));
  }

  @Test
  void entryWhoseEndIsBeyondAllNumbers_hasEndedOrIsShortened() {
    mongo.alter("r", "{$set: {'holder.until': {$date: {$numberLong: '-9223372036854775808'}}}}");
    assertThat(Ask.extend(node, HOLDS)).isInstanceOf(ExtendReply.Missing.class);
    assertThat(Ask.grant(node, exclusive("other", "r"), 9)).isEqualTo(new Granted(9));
  }

  @Test
  void readersBeyondTheMostThatADocumentIsGiven_areRefusedByName() {
    Ask.release(node, HOLDS);
    BsonDocument many = new BsonDocument();
    Held held = new Held("x".repeat(255), 4_000_000_000_000L, 0, 6);
    for (int i = 0; i < Decisions.MAX_READERS; i++) {
      many.append("k" + i, held.toBson());
    }
    mongo
        .locks()
        .updateOne(
            BsonDocument.parse("{_id: 'r'}"),
            new BsonDocument("$set", new BsonDocument("readers", many)));
    GrantReply reply = Ask.grant(node, shared("one more", "r"), 9);
    assertThat(reply).isInstanceOf(Failed.class);
    assertThat(((Failed) reply).detail()).contains("readers", "\"r\"", "5000");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{$unset: {identity: ''}}",
        "{$set: {identity: 7}}",
        "{$unset: {records: ''}}",
        "{$set: {records: 'none'}}",
        "{$set: {records: ['none']}}",
        "{$set: {records: [{key: 'x'}]}}",
        "{$set: {records: [{key: 'x', text: 7}]}}",
      })
  void fleetsThatCannotBeRead_keepTheNodeFromVoting(String alteration) {
    mongo.locks().updateOne(FleetDocument.filter(), BsonDocument.parse(alteration));
    assertThat(Ask.grant(node, exclusive("other", "s"), 9)).isInstanceOf(Failed.class);
    NodeStatus status = Ask.now(node.status());
    assertThat(status.state()).isEqualTo(NodeStatus.State.UNREACHABLE);
    assertThat(status.detail()).contains("ALTERED");
  }

  @Test
  void recordThatIsNone_isNoneOfTheFleet() {
    mongo
        .locks()
        .updateOne(
            FleetDocument.filter(),
            BsonDocument.parse("{$set: {records: [{key: 'sole 1000', text: 'garbage'}]}}"));
    assertThat(Ask.grant(node, exclusive("other", "s"), 9))
        .isInstanceOf(dev.lukko.spi.NotVoting.class);
    assertThat(SoleFleet.status(node).awaitsAdmission()).isTrue();
  }
}
