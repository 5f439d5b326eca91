package dev.lukko.mongodb;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Updates;
import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.fencing.RequestFingerprint;
import dev.lukko.redlock.Redlock;
import java.time.Duration;
import org.bson.Document;

/** Code of the guide on MongoDB, here to be compiled. */
final class GuideSnippets {

  void nodes(MongoClient mongoClient) {
    // begin mongodb-nodes
    LockClient locks = Redlock.over(MongoNode.over(mongoClient)); // your own MongoClient

    LockClient mixed =
        Redlock.over(
            MongoNode.connect("mongodb://db-a,db-b,db-c/locks?replicaSet=main"),
            MongoNode.connect("mongodb://other-a/locks"),
            MongoNode.builder("mongodb://other-b").database("locks").build());
    // end mongodb-nodes
    mixed.close();
    locks.close();
  }

  boolean fence(MongoDatabase database, MongoCollection<Document> accounts, Lease lease) {
    // begin mongodb-fence
    MongoFence fence = MongoFence.over(database);
    boolean found = fence.update(accounts, 7, Updates.inc("balance", -100), lease.fencingToken());
    // end mongodb-fence
    return found;
  }

  String once(MongoDatabase database, String key, String body) throws Exception {
    // begin mongodb-once
    MongoIdempotencyKeys keys = MongoIdempotencyKeys.over(database).claimTtl(Duration.ofMinutes(5));
    return keys.runOnce(key, RequestFingerprint.of(body), () -> send(body));
    // end mongodb-once
  }

  private static String send(String body) {
    return body;
  }
}
