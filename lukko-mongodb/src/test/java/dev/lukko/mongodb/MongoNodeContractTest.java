package dev.lukko.mongodb;

import dev.lukko.testkit.contract.LockNodeContract;
import dev.lukko.testkit.contract.StoreUnderTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of nodes, on a server in this process that speaks MongoDB's protocol. */
class MongoNodeContractTest extends LockNodeContract {
  private static TestMongo mongo;

  @BeforeAll
  static void start() {
    mongo = TestMongo.inProcess();
  }

  @AfterAll
  static void stop() {
    mongo.close();
  }

  @Override
  protected StoreUnderTest openStore() {
    mongo.forget();
    return new MongoStoreUnderTest(mongo);
  }
}
