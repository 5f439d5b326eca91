package dev.lukko.mongodb;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.lukko.text.PrintableAddress;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Addresses of MongoDB, and how they are shown: without anything that one logs in with. */
final class MongoAddress {
  private MongoAddress() {}

  /**
   * Reads one.
   *
   * @throws IllegalArgumentException if it is none; what was given is shown as far as it is no
   *     secret for certain
   */
  static ConnectionString of(@Nullable String url) {
    if (url == null || !(url.startsWith("mongodb://") || url.startsWith("mongodb+srv://"))) {
      throw new IllegalArgumentException(
          "url is "
              + PrintableAddress.of(url)
              + "; it must begin with mongodb:// or mongodb+srv://");
    }
    try {
      return new ConnectionString(url);
    } catch (RuntimeException unreadable) {
      // Not as the cause: the driver repeats what it cannot read.
      throw new IllegalArgumentException(
          "url is "
              + PrintableAddress.of(url)
              + "; it must be mongodb://user:password@host:port/"
              + "database, with user and password percent-encoded");
    }
  }

  /**
   * A client of a node's own. A request is sent once: the driver repeats nothing.
   *
   * @throws IllegalArgumentException if the parameters of the address do not fit together
   */
  static MongoClient client(ConnectionString address, int maxConnections, Duration timeout) {
    try {
      MongoClientSettings.Builder settings =
          MongoClientSettings.builder()
              .applyConnectionString(address)
              .retryWrites(false)
              .retryReads(false)
              .applyToConnectionPoolSettings(pool -> pool.maxSize(maxConnections));
      if (address.getApplicationName() == null) {
        settings.applicationName("lukko");
      }
      if (address.getConnectTimeout() == null) {
        settings.applyToSocketSettings(
            socket -> socket.connectTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS));
      }
      return MongoClients.create(settings.build());
    } catch (IllegalArgumentException | IllegalStateException unfit) {
      String said =
          PrintableAddress.without(String.valueOf(unfit.getMessage()), address.toString());
      throw new IllegalArgumentException(
          "url is " + PrintableAddress.of(address.toString()) + "; the driver refuses it: " + said);
    }
  }

  /** Where a database is. */
  static String show(List<String> hosts, String database) {
    String servers = "mongodb://" + String.join(",", new TreeSet<>(hosts));
    return PrintableAddress.of(servers) + "/" + database;
  }
}
