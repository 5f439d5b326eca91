package dev.lukko.mongodb;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.testkit.contract.LockNodeContract;
import dev.lukko.testkit.contract.StoreUnderTest;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of nodes on a real server, where there is one. */
class RealMongodContractTest extends LockNodeContract {
  private static Mongod server;
  private static TestMongo mongo;

  @BeforeAll
  static void start() throws Exception {
    Optional<Path> binary = Mongod.binary();
    assumeTrue(binary.isPresent(), "there is no mongod on the PATH");
    server = Mongod.start(binary.get());
    mongo = TestMongo.at(server.address());
  }

  @AfterAll
  static void stop() throws Exception {
    if (server != null) {
      mongo.close();
      server.close();
    }
  }

  @Override
  protected StoreUnderTest openStore() {
    mongo.forget();
    return new MongoStoreUnderTest(mongo);
  }
}
