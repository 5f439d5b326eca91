package dev.lukko.mongodb;

import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.NotVoting;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The document of the fleets that a collection of locks serves: what the collection is known by,
 * and a record for each fleet.
 *
 * <p>Its id is a number, and those of resources are texts, so that no resource has its name.
 *
 * <p>A write cannot have a condition on another document. So a request compares the record twice:
 * with what it reads before it writes, and again when its write is in force. If the record is then
 * still the one that was seen, the write came before any replacement of it; if not, the request has
 * not been granted, and what it wrote is taken back. A record is not put back once it was replaced:
 * its epoch, its members, or the id of the run differ.
 */
final class FleetDocument {
  static final BsonInt32 ID = new BsonInt32(0);

  private static final String NAME = "of the fleets";
  private static final String IDENTITY = "identity";
  private static final String RECORDS = "records";
  private static final String KEY = "key";
  private static final String TEXT = "text";

  private final BsonDocument stored;
  private final String identity;
  private final SortedMap<String, String> directory = new TreeMap<>();

  FleetDocument(BsonDocument stored, String collection) {
    this.stored = stored;
    BsonValue own = stored.get(IDENTITY);
    if (own == null || !own.isString()) {
      throw new AlteredDocumentException(NAME, IDENTITY, "is no text");
    }
    this.identity = own.asString().getValue() + collection;
    BsonValue records = stored.get(RECORDS);
    if (records == null || !records.isArray()) {
      throw new AlteredDocumentException(NAME, RECORDS, "is no list");
    }
    for (BsonValue record : records.asArray()) {
      if (!record.isDocument()
          || !record.asDocument().getOrDefault(KEY, BsonNull.VALUE).isString()
          || !record.asDocument().getOrDefault(TEXT, BsonNull.VALUE).isString()) {
        throw new AlteredDocumentException(NAME, RECORDS, "has an element that is no record");
      }
      directory.put(
          record.asDocument().getString(KEY).getValue(),
          record.asDocument().getString(TEXT).getValue());
    }
  }

  /** The condition by which it is found. */
  static BsonDocument filter() {
    return new BsonDocument(LockDocument.ID, ID);
  }

  /** What a new collection begins with. */
  static BsonDocument fresh(String identity) {
    return new BsonDocument(IDENTITY, new BsonString(identity))
        .append(RECORDS, new BsonArray())
        .append(LockDocument.VERSION, new BsonObjectId());
  }

  String identity() {
    return identity;
  }

  FleetMemory memory(long nowMillis) {
    return new FleetMemory(FleetRecord.idOf(identity), directory, nowMillis, "");
  }

  /** What a record is compared for. */
  enum Check {
    /** It is the record that was seen; a grant of earlier may be prolonged in a quarantine, too. */
    SAME,
    /** The same, made for the present run, and its time to vote has come. */
    VOTING
  }

  /** Why a request is not run; null if nothing is in its way. */
  @Nullable NotVoting refusal(LockEntry entry, Check check, long nowMillis) {
    if (entry.seen().isEmpty()) {
      return null;
    }
    String key = FleetRecord.keyOf(entry.seen());
    FleetMemory memory = memory(nowMillis);
    NodeStatus status = NodeStatus.remembering(identity, List.of(), Set.of(), memory).in(key);
    boolean same =
        memory.record(key).filter(record -> record.seen().equals(entry.seen())).isPresent();
    if (same && (check == Check.SAME || status.state() == State.VOTING)) {
      return null;
    }
    return new NotVoting(status.asRefusal(same));
  }

  /** The write that a change of the records is; null if they are not those that were seen. */
  @Nullable Change admission(@Nullable FleetMemory seen, FleetChange change, long nowMillis) {
    FleetMemory memory = memory(nowMillis);
    if (seen == null
        || !seen.run().equals(memory.run())
        || !seen.directory().equals(memory.directory())) {
      return null;
    }
    BsonArray records = new BsonArray();
    // Rounded up: a quarantine must not be shorter than it was ordered.
    for (Map.Entry<String, String> record : memory.after(change, nowMillis + 1).entrySet()) {
      records.add(
          new BsonDocument(KEY, new BsonString(record.getKey()))
              .append(TEXT, new BsonString(record.getValue())));
    }
    return new Change(
        filter()
            .append(
                LockDocument.VERSION,
                new BsonDocument("$eq", stored.getOrDefault(LockDocument.VERSION, BsonNull.VALUE)))
            .append(RECORDS, new BsonDocument("$eq", stored.getArray(RECORDS))),
        new BsonDocument(
            "$set",
            new BsonDocument(RECORDS, records).append(LockDocument.VERSION, new BsonObjectId())));
  }
}
