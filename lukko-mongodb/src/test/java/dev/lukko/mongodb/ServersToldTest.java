package dev.lukko.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoSocketReadException;
import com.mongodb.MongoWriteConcernException;
import com.mongodb.ServerAddress;
import com.mongodb.WriteConcernResult;
import com.mongodb.bulk.WriteConcernError;
import dev.lukko.spi.Failed;
import dev.lukko.spi.Unknown;
import java.util.Set;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a real server tells of itself or answers, which the one in the build does not. */
class ServersToldTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{name: 'l', type: 'view', options: {viewOn: 'x'}}",
        "{name: 'l', type: 'timeseries', options: {}}",
        "{name: 'l', type: 'collection', options: {capped: true, size: 4096}}",
        "{name: 'l', type: 'collection', options: {collation: {locale: 'en', strength: 2}}}",
      })
  void collectionThatCannotHoldLocksIsRefused(String told) {
    assertThatThrownBy(() -> CollectionCheck.check("l", BsonDocument.parse(told)))
        .isInstanceOf(UnsuitableCollectionException.class)
        .hasMessageContaining("collection \"l\" ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{name: 'l', type: 'collection', options: {}}",
        "{name: 'l', type: 'collection', options: {collation: {locale: 'simple'}}}",
        "{name: 'l', options: {capped: false}, info: {}}",
        "{name: 'l'}",
      })
  void plainCollectionIsSuitable(String told) {
    assertThatCode(() -> CollectionCheck.check("l", BsonDocument.parse(told)))
        .doesNotThrowAnyException();
  }

  @Test
  void routersAndSecondariesDoNotVote_andPrimariesDo() {
    assertThat(ServerRole.unfit(BsonDocument.parse("{msg: 'isdbgrid', isWritablePrimary: true}")))
        .contains("router");
    assertThat(ServerRole.unfit(BsonDocument.parse("{isWritablePrimary: false, secondary: true}")))
        .contains("secondary");
    assertThat(ServerRole.unfit(BsonDocument.parse("{isWritablePrimary: false}"))).isNotNull();
    assertThat(ServerRole.unfit(BsonDocument.parse("{isWritablePrimary: true}"))).isNull();
    assertThat(ServerRole.unfit(BsonDocument.parse("{ismaster: true}"))).isNull();
  }

  private static MongoCommandException answer(int code) {
    return new MongoCommandException(
        BsonDocument.parse("{ok: 0, code: " + code + ", codeName: 'Name', errmsg: 'words'}"),
        new ServerAddress());
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 13, 8_000, 10_107, 13_435, 17_280, 10_334})
  void answerThatRefusesAWriteIsCertain(int code) {
    assertThat(Faults.of(answer(code), true, false))
        .isInstanceOfSatisfying(
            Failed.class, failed -> assertThat(failed.detail()).isEqualTo("Name: words"));
    assertThat(Faults.of(answer(code), true, true)).isInstanceOf(Unknown.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {50, 64, 91, 189, 262, 11_600, 11_601, 11_602})
  void answerThatInterruptsAWriteIsNot_unlessNothingWasWritten(int code) {
    assertThat(Faults.of(answer(code), true, false)).isInstanceOf(Unknown.class);
    assertThat(Faults.of(answer(code), false, false)).isInstanceOf(Failed.class);
  }

  @Test
  void writeThatTheMajorityHasNotAcknowledgedIsUnknown() {
    MongoWriteConcernException late =
        new MongoWriteConcernException(
            new WriteConcernError(64, "WriteConcernFailed", "waiting", new BsonDocument()),
            WriteConcernResult.acknowledged(1, true, null),
            new ServerAddress(),
            Set.of());
    assertThat(Faults.of(late, true, false)).isInstanceOf(Unknown.class);
  }

  @Test
  void connectionThatBreaksInAWriteIsUnknown_andInAReadNot() {
    MongoSocketReadException broken = new MongoSocketReadException("reset", new ServerAddress());
    assertThat(Faults.of(broken, true, false)).isInstanceOf(Unknown.class);
    assertThat(Faults.of(broken, false, false)).isInstanceOf(Failed.class);
  }
}
