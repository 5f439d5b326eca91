package dev.lukko.mongodb;

import dev.lukko.Holder;
import dev.lukko.spi.OwnerValue;
import java.time.Duration;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;

/**
 * One owner's entry in a resource's document.
 *
 * @param untilMillis when it ends, by the server's clock
 * @param ttlMillis how much time it was given; zero if that is not known
 * @param number the number of its grant
 */
record Held(String owner, long untilMillis, long ttlMillis, long number) {
  static final String OWNER = "owner";
  static final String UNTIL = "until";
  static final String TTL = "ttl";
  static final String NUMBER = "number";

  BsonDocument toBson() {
    return new BsonDocument(OWNER, new BsonString(owner))
        .append(UNTIL, new BsonDateTime(untilMillis))
        .append(TTL, new BsonInt64(ttlMillis))
        .append(NUMBER, new BsonInt64(number));
  }

  boolean isAliveAt(long nowMillis) {
    return untilMillis > nowMillis;
  }

  /** Whether it claims more time than it was given: the server's clock went back. */
  boolean isOverlongAt(long nowMillis) {
    return ttlMillis > 0 && isAliveAt(nowMillis) && untilMillis - nowMillis > ttlMillis;
  }

  Holder describeAt(long nowMillis) {
    return OwnerValue.describe(owner, Duration.ofMillis(untilMillis - nowMillis));
  }
}
