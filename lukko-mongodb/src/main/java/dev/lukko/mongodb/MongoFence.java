package dev.lukko.mongodb;

import com.mongodb.MongoCommandException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.Projections;
import com.mongodb.client.model.Updates;
import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.fencing.Fence;
import dev.lukko.fencing.FenceArguments;
import dev.lukko.fencing.StaleTokenException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * A fence for documents in MongoDB.
 *
 * <pre>{@code
 * MongoFence fence = MongoFence.over(database);
 * boolean found = fence.update(accounts, 7, Updates.inc("balance", -100), lease.fencingToken());
 * }</pre>
 *
 * <p>{@link #update update} keeps the token in the document that it writes, in the field {@value
 * #FIELD}: the check and the write are one step, without a further request. Whoever inserts such a
 * document writes the token into it; deleting it deletes the memory of the fence.
 *
 * <p>{@link #check} and {@link #touch} keep the tokens of resources in a collection of their own,
 * {@value #COLLECTION}, which a majority has in its journal before they return. They guard what is
 * written elsewhere, with the gap between check and write that this has. Tokens are kept for ever,
 * unless {@link #createIndex} says how long.
 *
 * <p>The client is the caller's; its exceptions pass unchanged. A call is bounded by the client's
 * {@code timeoutMS}, or else by {@link #timeout}. When the driver repeats a write after a failure,
 * the server does it once. Immutable and thread-safe.
 */
public final class MongoFence implements Fence {
  /** The field of a guarded document that has the highest token. */
  public static final String FIELD = "fence";

  /** The collection of the tokens of resources. */
  public static final String COLLECTION = "lukko_fences";

  private static final String ID = LockDocument.ID;
  private static final String TOKEN = "token";
  private static final String WRITTEN = "written";
  private static final String CONTACT = "contactAt";
  private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);
  private static final int MOST_ATTEMPTS = 100;

  private final MongoDatabase database;
  private final boolean strict;
  private final Duration timeout;

  private MongoFence(MongoDatabase database, boolean strict, Duration timeout) {
    this.database = database;
    this.strict = strict;
    this.timeout = timeout;
  }

  /**
   * A fence that lets a holder write several times.
   *
   * @param database where the tokens of resources are kept
   */
  public static MongoFence over(MongoDatabase database) {
    NewerDriver.check();
    return new MongoFence(
        database
            .withReadPreference(ReadPreference.primary())
            .withReadConcern(ReadConcern.LOCAL)
            .withWriteConcern(WriteConcerns.SAFE),
        false,
        DEFAULT_TIMEOUT);
  }

  /** The same, accepting each token for one write only. */
  public MongoFence strict() {
    return new MongoFence(database, true, timeout);
  }

  /** The same with another limit of a call's time, if the client sets none: 10 ms to 5 minutes. */
  public MongoFence timeout(Duration limit) {
    Ranges.timeout("timeout", limit);
    return new MongoFence(database, strict, limit);
  }

  /**
   * Lets tokens of resources be forgotten after a time without contact. A holder that was paused
   * for longer is believed again.
   *
   * @param retention 1 s to 3650 days
   * @throws com.mongodb.MongoCommandException if there is such an index with another retention
   */
  public void createIndex(Duration retention) {
    var unused =
        tokens()
            .createIndex(
                Indexes.ascending(CONTACT),
                new IndexOptions()
                    .name("lukko_clean_up")
                    .expireAfter(
                        Ranges.retention("retention", retention).toSeconds(), TimeUnit.SECONDS));
  }

  @Override
  public void check(String resource, long token) {
    contact(resource, token, true);
  }

  @Override
  public void touch(String resource, long token) {
    contact(resource, token, false);
  }

  private void contact(String resource, long token, boolean write) {
    FenceArguments.resource(resource);
    FenceArguments.token(token);
    List<Bson> conditions = new ArrayList<>();
    conditions.add(Filters.eq(ID, new BsonString(resource)));
    conditions.add(Filters.lte(TOKEN, token));
    List<Bson> changes = new ArrayList<>();
    changes.add(Updates.set(TOKEN, token));
    changes.add(Updates.currentDate(CONTACT));
    if (write) {
      changes.add(Updates.set(WRITTEN, token));
      if (strict) {
        conditions.add(Filters.or(Filters.eq(WRITTEN, BsonNull.VALUE), Filters.lt(WRITTEN, token)));
      }
    }
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (isAccepted(Filters.and(conditions), Updates.combine(changes))) {
        return;
      }
      BsonDocument stored = tokens().find(Filters.eq(ID, new BsonString(resource))).first();
      if (stored != null) {
        long highest = number("fence of \"" + resource + "\"", stored.get(TOKEN));
        if (highest > token
            || (write && strict && number(resource, stored.get(WRITTEN)) == token)) {
          throw new StaleTokenException(resource, token, highest);
        }
      }
      // It was cleaned up, or raised to less, between the two requests.
    }
    throw new LockException("the fence of \"" + resource + "\" came and went too often");
  }

  /** Whether the token was remembered; if not, there is a document that does not let it through. */
  private boolean isAccepted(Bson filter, Bson update) {
    try {
      var unused =
          tokens()
              .findOneAndUpdate(
                  filter,
                  update,
                  new FindOneAndUpdateOptions().upsert(true).projection(Projections.include(ID)));
      return true;
    } catch (MongoCommandException failure) {
      if (Faults.isDuplicate(failure)) {
        return false;
      }
      throw failure;
    }
  }

  /**
   * Updates a document under its own fence, in one step.
   *
   * @param id the document's {@code _id}
   * @param update what is done to it; not to the field {@value #FIELD}
   * @return whether there is such a document
   * @throws StaleTokenException if its fence has seen a higher token, or, if this is strict, this
   *     one; nothing was written
   * @throws IllegalArgumentException if the collection's write concern is unacknowledged
   * @throws LockException if the field holds no token
   */
  public boolean update(MongoCollection<?> collection, Object id, Bson update, long token) {
    FenceArguments.token(token);
    WriteConcerns.checked(collection.getWriteConcern());
    String name = collection.getNamespace().getCollectionName() + " " + id;
    Bson lower = strict ? Filters.lt(FIELD, token) : Filters.lte(FIELD, token);
    Bson filter =
        Filters.and(Filters.eq(ID, id), Filters.or(Filters.eq(FIELD, BsonNull.VALUE), lower));
    Bson both = Updates.combine(update, Updates.set(FIELD, token));
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (bounded(collection).updateOne(filter, both).getMatchedCount() > 0) {
        return true;
      }
      BsonDocument stored =
          bounded(collection)
              .withReadPreference(ReadPreference.primary())
              .withDocumentClass(BsonDocument.class)
              .find(Filters.eq(ID, id))
              .projection(Projections.include(FIELD))
              .first();
      if (stored == null) {
        return false;
      }
      long highest = number("fence of " + name, stored.get(FIELD));
      if (highest > token || (strict && highest == token)) {
        throw new StaleTokenException(name, token, highest);
      }
    }
    throw new LockException("the document " + name + " came and went too often");
  }

  /** {@link #update(MongoCollection, Object, Bson, long)} with the token of a lease. */
  public boolean update(MongoCollection<?> collection, Object id, Bson update, Lease lease) {
    return update(collection, id, update, lease.fencingToken());
  }

  private MongoCollection<BsonDocument> tokens() {
    return bounded(database.getCollection(COLLECTION, BsonDocument.class));
  }

  private <T> MongoCollection<T> bounded(MongoCollection<T> collection) {
    return collection.getTimeout(TimeUnit.MILLISECONDS) == null
        ? collection.withTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        : collection;
  }

  private static long number(String what, @Nullable BsonValue value) {
    if (value == null || value.isNull()) {
      return 0;
    }
    if (value.isInt64() || value.isInt32()) {
      return value.asNumber().longValue();
    }
    if (value.isDouble() && value.asDouble().getValue() == value.asDouble().longValue()) {
      return value.asDouble().longValue();
    }
    throw new LockException("the " + what + " holds no token, but a value of another type");
  }
}
