package dev.lukko.mongodb;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.net.InetSocketAddress;
import org.bson.BsonDocument;
import org.bson.BsonString;

/** A server for tests, and a client that looks at it behind the node's back. */
final class TestMongo implements AutoCloseable {
  private static final String COLLECTION = "lukko_locks";

  private final InetSocketAddress address;
  private final Runnable stop;
  private final MongoClient client;

  private TestMongo(InetSocketAddress address, Runnable stop) {
    this.address = address;
    this.stop = stop;
    this.client = MongoClients.create(url());
  }

  /** A server in this process, which speaks MongoDB's protocol. */
  static TestMongo inProcess() {
    MongoServer server = new MongoServer(new MemoryBackend());
    return new TestMongo(server.bind(), server::shutdownNow);
  }

  /** A real server, which somebody else stops. */
  static TestMongo at(InetSocketAddress address) {
    return new TestMongo(address, () -> {});
  }

  InetSocketAddress address() {
    return address;
  }

  String url() {
    return url(address.getPort());
  }

  /** What is behind a proxy is not to be found out from the members of a set. */
  static String url(int port) {
    return "mongodb://127.0.0.1:" + port + "/lukko?directConnection=true";
  }

  MongoClient client() {
    return client;
  }

  MongoDatabase database() {
    return client.getDatabase("lukko");
  }

  MongoCollection<BsonDocument> locks() {
    return database().getCollection(COLLECTION, BsonDocument.class);
  }

  /** The document of a resource; null if there is none. */
  BsonDocument document(String resource) {
    return locks().find(new BsonDocument("_id", new BsonString(resource))).first();
  }

  /** Changes a document as another program would. */
  void alter(String resource, String update) {
    locks()
        .updateOne(new BsonDocument("_id", new BsonString(resource)), BsonDocument.parse(update));
  }

  void forget() {
    database().drop();
  }

  @Override
  public void close() {
    client.close();
    stop.run();
  }
}
