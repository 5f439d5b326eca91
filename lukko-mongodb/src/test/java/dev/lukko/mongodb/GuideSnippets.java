package dev.lukko.mongodb;

import com.mongodb.client.MongoClient;
import dev.lukko.LockClient;
import dev.lukko.redlock.Redlock;

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
}
