package dev.lukko.mongodb;

import com.mongodb.ConnectionString;
import com.mongodb.MongoNamespace;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The settings of a {@link MongoNode}; each setter checks at once. Not thread-safe. */
public final class MongoNodeBuilder {
  private static final int MAX_CONNECTIONS = 64;
  private static final int MAX_QUEUE = 100_000;
  private static final int MAX_NAME = 255;
  private static final Duration SHORTEST_REQUEST = Duration.ofMillis(10);
  private static final Duration LONGEST_REQUEST = Duration.ofMinutes(5);

  /** As an index can say it. */
  private static final Duration LONGEST = Duration.ofDays(20_000);

  private final @Nullable MongoClient client;
  private final @Nullable ConnectionString address;
  private @Nullable String name;
  private String database = "lukko";
  private String collection = "lukko_locks";
  private int maxConnections = 8;
  private int queueCapacity = 256;
  private Duration requestTimeout = Duration.ofSeconds(2);
  private Duration counterRetention = Duration.ofDays(7);
  private WriteConcern writeConcern = WriteConcerns.SAFE;

  MongoNodeBuilder(MongoClient client) {
    NewerDriver.check();
    this.client = Objects.requireNonNull(client, "client");
    this.address = null;
  }

  MongoNodeBuilder(ConnectionString address) {
    NewerDriver.check();
    this.client = null;
    this.address = address;
    String named = address.getDatabase();
    if (named != null) {
      this.database = named;
    }
  }

  /** The node's name in messages, 1 to 255 characters; by default the address of its database. */
  public MongoNodeBuilder name(String name) {
    if (name == null || name.isEmpty() || name.length() > MAX_NAME) {
      throw new IllegalArgumentException(
          "name is \"" + name + "\"; it must have 1 to " + MAX_NAME + " characters");
    }
    this.name = name;
    return this;
  }

  /** The database of the locks; by default the one that the address names, else {@code lukko}. */
  public MongoNodeBuilder database(String database) {
    try {
      MongoNamespace.checkDatabaseNameValidity(database);
    } catch (IllegalArgumentException unfit) {
      throw new IllegalArgumentException(
          "database is \"" + database + "\"; it must be the name of one: " + unfit.getMessage());
    }
    this.database = database;
    return this;
  }

  /** The collection of the locks, which has nothing else; by default {@code lukko_locks}. */
  public MongoNodeBuilder collection(String collection) {
    if (collection == null
        || collection.isEmpty()
        || collection.length() > 100
        || collection.startsWith("system.")
        || collection.startsWith(".")
        || collection.indexOf('$') >= 0
        || collection.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(
          "collection is \""
              + collection
              + "\"; it must have 1 to 100 characters, none of them $ or a zero, and begin neither"
              + " with a dot nor with \"system.\"");
    }
    this.collection = collection;
    return this;
  }

  /**
   * How many requests run at a time, each in a thread and on a connection, 1 to 64; by default 8.
   */
  public MongoNodeBuilder maxConnections(int maxConnections) {
    this.maxConnections = inRange("maxConnections", maxConnections, 1, MAX_CONNECTIONS);
    return this;
  }

  /** How many requests may wait for a thread, 0 to 100,000; more fail at once. By default 256. */
  public MongoNodeBuilder queueCapacity(int queueCapacity) {
    this.queueCapacity = inRange("queueCapacity", queueCapacity, 0, MAX_QUEUE);
    return this;
  }

  /**
   * When a request that has no answer is given up, 10 ms to 5 minutes, counted from the call; by
   * default 2 s. It spans the wait for a server, all that the request asks of it, and what the
   * driver repeats.
   */
  public MongoNodeBuilder requestTimeout(Duration requestTimeout) {
    this.requestTimeout =
        between("requestTimeout", requestTimeout, SHORTEST_REQUEST, LONGEST_REQUEST);
    return this;
  }

  /**
   * How long the counter of a resource is kept after its last entry has ended, in whole seconds, 1
   * s to 20,000 days; by default 7 days. It must be longer than clocks can differ. The index of the
   * collection has it: the first node decides.
   */
  public MongoNodeBuilder counterRetention(Duration counterRetention) {
    this.counterRetention =
        between("counterRetention", counterRetention, Duration.ofSeconds(1), LONGEST);
    return this;
  }

  /**
   * When a write counts as done; by default a majority of the members has it in its journal.
   * Anything less is warned of, and refused by strict clients.
   *
   * @throws IllegalArgumentException if writes would not be acknowledged
   */
  public MongoNodeBuilder writeConcern(WriteConcern writeConcern) {
    this.writeConcern = WriteConcerns.checked(Objects.requireNonNull(writeConcern, "writeConcern"));
    return this;
  }

  /**
   * A node. It connects once, and waits no longer than the request timeout for that; a server that
   * cannot be reached is no error, it joins when it can.
   *
   * @throws IllegalStateException if the server answers, but the collection cannot hold locks
   * @throws IllegalArgumentException if the parameters of the address do not fit together
   */
  public MongoNode build() {
    return build(Ticker.system());
  }

  MongoNode build(Ticker ticker) {
    MongoSettings settings =
        new MongoSettings(
            name,
            database,
            collection,
            maxConnections,
            queueCapacity,
            requestTimeout.toMillis(),
            counterRetention.toSeconds(),
            writeConcern);
    if (client != null) {
      List<String> hosts =
          client.getClusterDescription().getServerDescriptions().stream()
              .map(server -> server.getAddress().toString())
              .toList();
      return new MongoNode(client, () -> {}, name(hosts), settings, ticker);
    }
    ConnectionString own = Objects.requireNonNull(address);
    MongoClient made = MongoAddress.client(own, maxConnections, requestTimeout);
    return new MongoNode(made, made::close, name(own.getHosts()), settings, ticker);
  }

  private String name(List<String> hosts) {
    return name != null ? name : MongoAddress.show(hosts, database);
  }

  private static int inRange(String field, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          field + " is " + value + "; it must be between " + min + " and " + max);
    }
    return value;
  }

  private static Duration between(
      String field, @Nullable Duration value, Duration min, Duration max) {
    if (value == null || value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          field + " is " + value + "; it must be between " + min + " and " + max);
    }
    return value;
  }
}
