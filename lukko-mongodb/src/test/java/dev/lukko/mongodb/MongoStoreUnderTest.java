package dev.lukko.mongodb;

import dev.lukko.spi.LockNode;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.contract.StoreTrait;
import dev.lukko.testkit.contract.StoreUnderTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;

/** A server for the contract, behind a proxy. */
final class MongoStoreUnderTest implements StoreUnderTest {
  private final TestMongo mongo;
  private final FaultProxy proxy;

  MongoStoreUnderTest(TestMongo mongo) {
    this.mongo = mongo;
    this.proxy = FaultProxy.to(mongo.address());
  }

  private MongoNodeBuilder builder() {
    return MongoNode.builder(TestMongo.url(proxy.port())).requestTimeout(Duration.ofSeconds(3));
  }

  @Override
  public LockNode openNode() {
    return builder().build();
  }

  @Override
  public LockNode openNode(String name) {
    return builder().name(name).build();
  }

  @Override
  public Set<StoreTrait> traits() {
    return EnumSet.of(
        StoreTrait.SEVERAL_RESOURCES,
        StoreTrait.NAMES_NODES,
        StoreTrait.TELLS_HOLDER,
        StoreTrait.SETS_COUNTER,
        StoreTrait.FORGETS,
        StoreTrait.LOSES_MESSAGES,
        StoreTrait.HANGS);
  }

  /** As whatever such a text would be in a document. */
  @Override
  public boolean setCounter(String resource, String text) {
    BsonValue value =
        text.matches("-?\\d+")
            ? new BsonInt64(Long.parseLong(text))
            : text.equals("1.5") ? new BsonDouble(1.5) : new BsonString(text);
    mongo
        .locks()
        .updateOne(
            new BsonDocument("_id", new BsonString(resource)),
            new BsonDocument("$set", new BsonDocument("counter", value)));
    return true;
  }

  @Override
  public void forget() {
    mongo.forget();
  }

  private static Predicate<byte[]> has(String text) {
    return packet -> new String(packet, StandardCharsets.ISO_8859_1).contains(text);
  }

  @Override
  public void loseRequest(String text) {
    proxy.resetAtNextRequest(has(text));
  }

  /** The server does not repeat the owner in its reply, so the reply to its request is lost. */
  @Override
  public void loseReply(String text) {
    proxy.resetAtNextReply(has(text));
  }

  @Override
  public void hang() {
    proxy.hold();
  }

  @Override
  public void resume() {
    proxy.heal();
  }

  @Override
  public void close() {
    proxy.close();
  }
}
