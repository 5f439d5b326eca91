package dev.lukko.mongodb;

import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** What a server says that it is. */
final class ServerRole {
  private ServerRole() {}

  /** What keeps it from voting, whoever asks; null if nothing does. */
  static @Nullable String unfit(BsonDocument hello) {
    if (new BsonString("isdbgrid").equals(hello.get("msg"))) {
      return "a router of a sharded cluster, whose clock is not that of the shards";
    }
    boolean primary = isTrue(hello.get("isWritablePrimary")) || isTrue(hello.get("ismaster"));
    return primary ? null : "no primary: a secondary, or a member that is starting";
  }

  private static boolean isTrue(@Nullable BsonValue value) {
    return value != null && value.isBoolean() && value.asBoolean().getValue();
  }
}
