package dev.lukko.mongodb;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoServerException;
import com.mongodb.MongoWriteException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.Projections;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Sorts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The collection of a node, blocking. Whatever the caller's client is set to, reads go to the
 * primary, writes have the node's write concern, and each request has a limit of time.
 */
final class MongoStore {
  private static final System.Logger LOG = System.getLogger(MongoStore.class.getName());
  private static final String NOW = "serverNow";
  private static final int COMMAND_NOT_FOUND = 59;

  private final MongoDatabase database;
  private final MongoCollection<BsonDocument> collection;
  private final MongoSettings settings;
  private volatile @Nullable Place place;
  private volatile String hello = "hello";

  /**
   * What is known of the collection since the first contact.
   *
   * @param suffix what the server tells it from others by; empty if it does not say
   * @param warnings what could be better about it
   */
  private record Place(String suffix, List<String> warnings) {}

  MongoStore(MongoClient client, MongoSettings settings) {
    this.settings = settings;
    this.database =
        client
            .getDatabase(settings.database())
            .withCodecRegistry(MongoClientSettings.getDefaultCodecRegistry())
            .withReadPreference(ReadPreference.primary())
            .withReadConcern(ReadConcern.LOCAL)
            .withWriteConcern(settings.writeConcern());
    this.collection = database.getCollection(settings.collection(), BsonDocument.class);
  }

  private MongoCollection<BsonDocument> within(Call<?> call) {
    return collection.withTimeout(call.leftMillis(), TimeUnit.MILLISECONDS);
  }

  /** Reads the documents of resources, the one of the fleets, and the server's clock. */
  Snapshot read(Call<?> call, List<String> names) {
    BsonArray ids = new BsonArray(List.of(FleetDocument.ID));
    names.forEach(name -> ids.add(new BsonString(name)));
    while (true) {
      Place known = place(call);
      Map<BsonValue, BsonDocument> found = new HashMap<>();
      List<BsonDocument> stages =
          List.of(
              new BsonDocument(
                  "$match", new BsonDocument(LockDocument.ID, new BsonDocument("$in", ids))),
              new BsonDocument("$addFields", new BsonDocument(NOW, new BsonString("$$NOW"))));
      for (BsonDocument each : within(call).aggregate(stages)) {
        found.put(each.get(LockDocument.ID), each);
      }
      BsonDocument fleet = found.get(FleetDocument.ID);
      if (fleet != null) {
        List<LockDocument> documents = new ArrayList<>(names.size());
        names.forEach(
            name -> documents.add(LockDocument.of(name, found.get(new BsonString(name)))));
        return new Snapshot(
            fleet.getDateTime(NOW).getValue(), new FleetDocument(fleet, known.suffix()), documents);
      }
      place = null; // The collection was dropped, or emptied.
    }
  }

  /** The document of the fleets alone; null if it is gone. */
  @Nullable FleetDocument fleet(Call<?> call) {
    Place known = place(call);
    BsonDocument stored = within(call).find(FleetDocument.filter()).first();
    return stored == null ? null : new FleetDocument(stored, known.suffix());
  }

  /** The highest counter of all resources; zero if there is none. */
  long highestCounter(Call<?> call) {
    BsonDocument highest =
        within(call)
            .find(Filters.gte(LockDocument.COUNTER, 0))
            .projection(Projections.include(LockDocument.COUNTER))
            .sort(Sorts.descending(LockDocument.COUNTER))
            .first();
    return highest == null ? 0 : LockDocument.counterOf(highest);
  }

  /** Writes; false if the document was no longer as it was read. */
  boolean write(Call<?> call, Change change) {
    MongoCollection<BsonDocument> bounded = within(call);
    call.writing();
    boolean done;
    BsonDocument filter = change.filter();
    if (filter != null) {
      done = bounded.updateOne(filter, change.write()).getMatchedCount() > 0;
    } else {
      done = insert(bounded, change.write());
    }
    if (done) {
      call.wrote();
    } else {
      call.notWritten(false);
    }
    return done;
  }

  private static boolean insert(MongoCollection<BsonDocument> into, BsonDocument document) {
    try {
      into.insertOne(document);
      return true;
    } catch (MongoWriteException failure) {
      if (Faults.isDuplicate(failure)) {
        return false;
      }
      throw failure;
    }
  }

  /** Takes an entry away; whether it was there, and lived. */
  boolean release(Call<?> call, Change release) {
    MongoCollection<BsonDocument> bounded = within(call);
    call.writing();
    BsonDocument after =
        bounded.findOneAndUpdate(
            release.filter(),
            release.write(),
            new FindOneAndUpdateOptions()
                .returnDocument(ReturnDocument.AFTER)
                .projection(
                    Projections.include(Changes.LAST + "." + Held.UNTIL, Changes.RELEASED_AT)));
    if (after == null) {
      call.notWritten(false);
      return false;
    }
    call.wrote();
    BsonValue last = after.get(Changes.LAST);
    BsonValue until = last != null && last.isDocument() ? last.asDocument().get(Held.UNTIL) : null;
    return until != null
        && until.isDateTime()
        && until.asDateTime().getValue() > after.getDateTime(Changes.RELEASED_AT).getValue();
  }

  /** What may keep the node from voting, whoever asks; null if nothing does. */
  @Nullable String unfit(Call<?> call) {
    return ServerRole.unfit(hello(call));
  }

  private BsonDocument hello(Call<?> call) {
    try {
      return command(call, hello);
    } catch (MongoCommandException unknown) {
      if (unknown.getErrorCode() != COMMAND_NOT_FOUND) {
        throw unknown;
      }
      hello = "isMaster";
      return command(call, hello);
    }
  }

  private BsonDocument command(Call<?> call, String command) {
    return database
        .withTimeout(call.leftMillis(), TimeUnit.MILLISECONDS)
        .runCommand(new BsonDocument(command, new BsonInt32(1)), BsonDocument.class);
  }

  List<String> warnings(Call<?> call) {
    return place(call).warnings();
  }

  /** Forgets what is known of the collection, so that it is looked at anew. */
  void lookAnew() {
    place = null;
  }

  /** Makes the first contact, if it was not made. */
  private Place place(Call<?> call) {
    Place known = place;
    if (known != null) {
      return known;
    }
    List<String> warnings = new ArrayList<>(WriteConcerns.warnings(settings.writeConcern()));
    String cleanUp = createIndex(call);
    if (cleanUp != null) {
      warnings.add(cleanUp);
    }
    String suffix = suffixOf(call);
    ensureFleets(call);
    Place seen = new Place(suffix, List.copyOf(warnings));
    place = seen;
    return seen;
  }

  /** Creates the index of the clean-up, and with it the collection; why there is none, or null. */
  private @Nullable String createIndex(Call<?> call) {
    try {
      within(call)
          .createIndex(
              Indexes.ascending(LockDocument.ENDS_AT),
              new IndexOptions()
                  .name("lukko_clean_up")
                  .expireAfter(settings.retentionSeconds(), TimeUnit.SECONDS));
      return null;
    } catch (MongoServerException refused) {
      if (!Faults.isRefusal(refused)) {
        throw refused;
      }
      LOG.log(System.Logger.Level.DEBUG, "the index of the clean-up was not created", refused);
      return "the index on "
          + LockDocument.ENDS_AT
          + " cannot be created as the settings say ("
          + refused.getCode()
          + "): documents of resources that nobody uses are cleaned up by the index that is there,"
          + " or not at all";
    }
  }

  /** What tells the collection from others, where the server says it. */
  private String suffixOf(Call<?> call) {
    try {
      for (BsonDocument each :
          database
              .withTimeout(call.leftMillis(), TimeUnit.MILLISECONDS)
              .listCollections(BsonDocument.class)
              .filter(new BsonDocument("name", new BsonString(settings.collection())))) {
        if (new BsonString(settings.collection()).equals(each.get("name"))) {
          CollectionCheck.check(settings.collection(), each);
          BsonDocument info = each.getDocument("info", new BsonDocument());
          return info.isBinary("uuid") ? "." + info.getBinary("uuid").asUuid() : "";
        }
      }
    } catch (MongoServerException refused) {
      if (!Faults.isRefusal(refused)) {
        throw refused;
      }
      LOG.log(System.Logger.Level.DEBUG, "the collection could not be looked at", refused);
    }
    return "";
  }

  private void ensureFleets(Call<?> call) {
    BsonDocument update =
        new BsonDocument("$setOnInsert", FleetDocument.fresh(UUID.randomUUID().toString()));
    try {
      var unused =
          within(call)
              .findOneAndUpdate(
                  FleetDocument.filter(), update, new FindOneAndUpdateOptions().upsert(true));
    } catch (MongoException faster) {
      if (!Faults.isDuplicate(faster)) {
        throw faster;
      }
    }
  }
}
