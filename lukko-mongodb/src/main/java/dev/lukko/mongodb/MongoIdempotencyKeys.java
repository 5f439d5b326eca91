package dev.lukko.mongodb;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.ReturnDocument;
import dev.lukko.LockException;
import dev.lukko.fencing.FenceArguments;
import dev.lukko.fencing.KeyClaimLostException;
import dev.lukko.fencing.KeyInProgressException;
import dev.lukko.fencing.KeyReusedException;
import dev.lukko.fencing.RequestFingerprint;
import dev.lukko.once.Claim;
import dev.lukko.once.ClaimedWork;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Requests that are normally run once, however often they are sent: a claim while the work is
 * running, then its result, are kept in a document of the request's key.
 *
 * <p><b>What this cannot do.</b> The keys take no part in a transaction of the work. If the process
 * dies after the work and before the result is stored, or the work takes longer than {@link
 * #claimTtl} and another call comes then, a repeat does the work again. So this keeps retries and
 * double clicks from doing work twice in the normal case; where twice is wrong in any case, let the
 * work itself tolerate it.
 *
 * <p>A call that fails takes its claim back. A repeat while the work is running asks again until
 * {@link #maxWait} is over. The same key for another request is refused. Claims end by the server's
 * clock. Claims and results are in the journals of a majority before a call goes on.
 *
 * <p>The client is the caller's; its exceptions pass unchanged. Each request is bounded by the
 * client's {@code timeoutMS}, or else by {@link #timeout}. Immutable and thread-safe.
 */
public final class MongoIdempotencyKeys {
  /** The collection of the keys. */
  public static final String COLLECTION = "lukko_once";

  private static final String OWNER = "owner";
  private static final String REQUEST = "request";
  private static final String CLAIMED_AT = "claimedAt";
  private static final String TTL = "ttl";
  private static final String DONE = "done";
  private static final String RESULT = "result";
  private static final String TOUCHED_AT = "touchedAt";
  private static final String NOW = "serverNow";
  private static final Duration LONGEST_CLAIM = Duration.ofDays(1);
  private static final int MOST_ATTEMPTS = 100;

  private final MongoDatabase database;
  private final Duration claimTtl;
  private final Duration maxWait;
  private final Duration timeout;

  private MongoIdempotencyKeys(
      MongoDatabase database, Duration claimTtl, Duration maxWait, Duration timeout) {
    this.database = database;
    this.claimTtl = claimTtl;
    this.maxWait = maxWait;
    this.timeout = timeout;
  }

  /** Keys whose claims last 1 minute, and whose repeats wait 10 s. */
  public static MongoIdempotencyKeys over(MongoDatabase database) {
    NewerDriver.check();
    return new MongoIdempotencyKeys(
        database
            .withReadPreference(ReadPreference.primary())
            .withReadConcern(ReadConcern.LOCAL)
            .withWriteConcern(WriteConcerns.SAFE),
        Duration.ofMinutes(1),
        Duration.ofSeconds(10),
        Duration.ofSeconds(10));
  }

  /** The same with claims of another length, more than the work ever takes: 10 ms to 1 day. */
  public MongoIdempotencyKeys claimTtl(Duration ttl) {
    Ranges.between("claimTtl", ttl, Duration.ofMillis(10), LONGEST_CLAIM, "10 ms to 1 day");
    return new MongoIdempotencyKeys(database, ttl, maxWait, timeout);
  }

  /** The same with another wait of a repeat for the call that is running: 0 to 1 hour. */
  public MongoIdempotencyKeys maxWait(Duration wait) {
    Ranges.between("maxWait", wait, Duration.ZERO, Duration.ofHours(1), "0 to 1 hour");
    return new MongoIdempotencyKeys(database, claimTtl, wait, timeout);
  }

  /**
   * The same with another limit of a request's time, if the client sets none: 10 ms to 5 minutes.
   */
  public MongoIdempotencyKeys timeout(Duration limit) {
    Ranges.timeout("timeout", limit);
    return new MongoIdempotencyKeys(database, claimTtl, maxWait, limit);
  }

  /**
   * Lets results be forgotten after a time; without it they are kept for ever.
   *
   * @param retention 1 to 3650 days: longer than a claim can last
   * @throws com.mongodb.MongoCommandException if there is such an index with another retention
   */
  public void createIndex(Duration retention) {
    Ranges.between("retention", retention, LONGEST_CLAIM, Duration.ofDays(3_650), "1 to 3650 days");
    var unused =
        keys()
            .createIndex(
                Indexes.ascending(TOUCHED_AT),
                new IndexOptions()
                    .name("lukko_clean_up")
                    .expireAfter(retention.toSeconds(), TimeUnit.SECONDS));
  }

  /**
   * Runs the work, unless the key has a result.
   *
   * @param key names the request: 1 to 255 characters, no control characters
   * @return the result of the work, now or then
   * @throws KeyInProgressException if another call runs it and did not end within the wait, or this
   *     thread was interrupted while it waited (its flag is set)
   * @throws KeyReusedException if the key has been used for a request with another fingerprint
   * @throws KeyClaimLostException if the work was done, took longer than the claim, and another
   *     call has the key by now
   * @throws LockException if another program has altered the key's document
   * @throws Exception what the work threw
   */
  public @Nullable String runOnce(
      String key, RequestFingerprint request, Callable<@Nullable String> work) throws Exception {
    FenceArguments.name("key", key);
    return new ClaimedWork(key, request, maxWait, new Entry(key, request)).run(work);
  }

  private MongoCollection<BsonDocument> keys() {
    MongoCollection<BsonDocument> keys = database.getCollection(COLLECTION, BsonDocument.class);
    return keys.getTimeout(TimeUnit.MILLISECONDS) == null
        ? keys.withTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        : keys;
  }

  /** Asks the server, also in a thread that is interrupted: its flag is kept for the caller. */
  private static <T> T answered(Supplier<T> request) {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return request.get();
        } catch (MongoInterruptedException again) {
          interrupted = true;
          var unused = Thread.interrupted(); // The driver has set it again.
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** A key's document. */
  private final class Entry implements ClaimedWork.Store {
    private final String key;
    private final RequestFingerprint request;

    Entry(String key, RequestFingerprint request) {
      this.key = key;
      this.request = request;
    }

    private BsonDocument id() {
      return new BsonDocument(LockDocument.ID, new BsonString(key));
    }

    @Override
    public Claim claim(String owner) {
      for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        if (answered(() -> inserted(owner))) {
          return new Claim.Taken();
        }
        BsonDocument known = answered(this::read);
        if (known != null) {
          Claim claim = claimOf(known);
          boolean over = claim instanceof Claim.Running running && running.leftMillis() <= 0;
          if (!over) {
            return claim;
          }
          if (answered(() -> takenOver(owner, known))) {
            return new Claim.Taken();
          }
        }
      }
      throw new LockException(
          "the claim of idempotency key \"" + key + "\" came and went too often");
    }

    /**
     * Claims a key that nobody has; or finds the claim that an earlier attempt of this has made.
     */
    private boolean inserted(String owner) {
      try {
        var unused =
            keys()
                .findOneAndUpdate(
                    id().append(OWNER, new BsonString(owner)).append(DONE, BsonBoolean.FALSE),
                    claiming(owner, false),
                    new FindOneAndUpdateOptions().upsert(true));
        return true;
      } catch (MongoCommandException failure) {
        if (Faults.isDuplicate(failure)) {
          return false;
        }
        throw failure;
      }
    }

    private BsonDocument claiming(String owner, boolean setOwner) {
      BsonDocument set =
          new BsonDocument(REQUEST, new BsonString(request.value()))
              .append(TTL, new BsonInt64(claimTtl.toMillis()));
      if (setOwner) {
        set.append(OWNER, new BsonString(owner));
      }
      return new BsonDocument("$set", set)
          .append(
              "$currentDate",
              new BsonDocument(CLAIMED_AT, BsonBoolean.TRUE).append(TOUCHED_AT, BsonBoolean.TRUE));
    }

    /** Takes the place of a claim that has ended, if it is still that one. */
    private boolean takenOver(String owner, BsonDocument ended) {
      BsonDocument filter =
          id().append(OWNER, new BsonDocument("$eq", ended.get(OWNER)))
              .append(CLAIMED_AT, new BsonDocument("$eq", ended.get(CLAIMED_AT)))
              .append(DONE, BsonBoolean.FALSE);
      return keys().updateOne(filter, claiming(owner, true)).getMatchedCount() > 0;
    }

    private @Nullable BsonDocument read() {
      return keys()
          .aggregate(
              List.of(
                  new BsonDocument("$match", id()),
                  new BsonDocument("$addFields", new BsonDocument(NOW, new BsonString("$$NOW")))))
          .first();
    }

    private Claim claimOf(BsonDocument known) {
      RequestFingerprint stored;
      try {
        stored = new RequestFingerprint(text(known, REQUEST));
      } catch (IllegalArgumentException none) {
        throw altered(REQUEST);
      }
      BsonValue done = known.getOrDefault(DONE, BsonNull.VALUE);
      if (!done.isBoolean()) {
        throw altered(DONE);
      }
      if (done.asBoolean().getValue()) {
        boolean empty = known.getOrDefault(RESULT, BsonNull.VALUE).isNull();
        return new Claim.Done(stored, empty ? null : text(known, RESULT));
      }
      text(known, OWNER);
      if (!known.isDateTime(CLAIMED_AT) || !known.isInt64(TTL)) {
        throw altered(CLAIMED_AT + " or " + TTL);
      }
      long age = known.getDateTime(NOW).getValue() - known.getDateTime(CLAIMED_AT).getValue();
      return new Claim.Running(stored, known.getInt64(TTL).getValue() - age);
    }

    private String text(BsonDocument known, String field) {
      BsonValue value = known.getOrDefault(field, BsonNull.VALUE);
      if (!value.isString()) {
        throw altered(field);
      }
      return value.asString().getValue();
    }

    private LockException altered(String field) {
      return new LockException(
          "the document of idempotency key \""
              + key
              + "\" was altered: its field "
              + field
              + " is none of Lukko's");
    }

    @Override
    public boolean complete(String owner, @Nullable String result) {
      BsonDocument own = id().append(OWNER, new BsonString(owner));
      BsonDocument done =
          new BsonDocument(
                  "$set",
                  new BsonDocument(DONE, BsonBoolean.TRUE)
                      .append(RESULT, result == null ? BsonNull.VALUE : new BsonString(result)))
              .append("$currentDate", new BsonDocument(TOUCHED_AT, BsonBoolean.TRUE));
      return answered(
          () ->
              keys()
                      .findOneAndUpdate(
                          own,
                          done,
                          new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER))
                  != null);
    }

    @Override
    public void abandon(String owner) {
      BsonDocument own = id().append(OWNER, new BsonString(owner)).append(DONE, BsonBoolean.FALSE);
      var unused = answered(() -> keys().deleteOne(own));
    }
  }
}
