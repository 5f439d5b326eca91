package dev.lukko.mongodb;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.bson.Document;

/** A real server: a replica set of one member, from the mongod on the PATH. */
final class Mongod implements AutoCloseable {
  private final Process process;
  private final Path directory;
  private final int port;

  private Mongod(Process process, Path directory, int port) {
    this.process = process;
    this.directory = directory;
    this.port = port;
  }

  static Optional<Path> binary() {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .filter(each -> !each.isEmpty())
        .map(each -> Path.of(each, "mongod"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  static Mongod start(Path binary) throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    Path directory = Files.createTempDirectory("lukko-mongod");
    Process process =
        new ProcessBuilder(
                binary.toString(),
                "--port",
                Integer.toString(port),
                "--bind_ip",
                "127.0.0.1",
                "--dbpath",
                directory.toString(),
                "--replSet",
                "lukko")
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile())
            .start();
    Mongod mongod = new Mongod(process, directory, port);
    boolean ready = false;
    try {
      mongod.initiate();
      ready = true;
      return mongod;
    } finally {
      if (!ready) {
        mongod.close();
      }
    }
  }

  private void initiate() {
    try (MongoClient client = MongoClients.create(TestMongo.url(port))) {
      Document member = new Document("_id", 0).append("host", "127.0.0.1:" + port);
      Document set = new Document("_id", "lukko").append("members", java.util.List.of(member));
      client.getDatabase("admin").runCommand(new Document("replSetInitiate", set));
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () ->
                  client
                      .getDatabase("admin")
                      .runCommand(new Document("hello", 1))
                      .getBoolean("isWritablePrimary"));
    }
  }

  InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException interrupt) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    }
  }
}
