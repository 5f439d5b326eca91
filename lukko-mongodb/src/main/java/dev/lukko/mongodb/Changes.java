package dev.lukko.mongodb;

import static dev.lukko.mongodb.LockDocument.COUNTER;
import static dev.lukko.mongodb.LockDocument.ENDS_AT;
import static dev.lukko.mongodb.LockDocument.HOLDER;
import static dev.lukko.mongodb.LockDocument.ID;
import static dev.lukko.mongodb.LockDocument.READERS;
import static dev.lukko.mongodb.LockDocument.READERS_COUNTER;
import static dev.lukko.mongodb.LockDocument.VERSION;

import dev.lukko.spi.LockEntry;
import java.util.List;
import java.util.Map;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The writes for one entry.
 *
 * <p>Each has among its conditions whatever its decision rested on, so that one document is read
 * and written as in one step; an exclusive grant rests on the whole document, and names its
 * version. Times are those of the server, read before the decision: an entry ends, at the latest,
 * its ttl after it was written, and a write that was stuck on its way creates an entry that ends no
 * later than it would have.
 *
 * <p>Operators of updates are the classic ones only: text is never taken for the path of a field.
 */
final class Changes {
  /** What counts as for ever, so that sums of times stay far from the end of the numbers. */
  static final long MAX_TTL_MILLIS = 100L * 365 * 24 * 3600 * 1000;

  /** Where a released entry stays, so that one request tells whether it had ended before. */
  static final String LAST = "last";

  static final String RELEASED_AT = "releasedAt";

  private static final int PRUNED_AT_ONCE = 20;
  private static final BsonString NOTHING = new BsonString("");

  private final LockEntry entry;
  private final String path;
  private final long nowMillis;

  Changes(LockEntry entry, long nowMillis) {
    this.entry = entry;
    this.path = LockDocument.pathOf(entry);
    this.nowMillis = nowMillis;
  }

  private long until(long ttlMillis) {
    return nowMillis + Math.min(ttlMillis, MAX_TTL_MILLIS);
  }

  private Held held(long ttlMillis, long number) {
    return new Held(entry.owner(), until(ttlMillis), Math.min(ttlMillis, MAX_TTL_MILLIS), number);
  }

  Change grant(LockDocument document, long ttlMillis, long number) {
    Held held = held(ttlMillis, number);
    if (document.isMissing()) {
      BsonDocument whole =
          free(document.name())
              .append(COUNTER, new BsonInt64(number))
              .append(ENDS_AT, endsAt(held.untilMillis(), number));
      if (entry.shared()) {
        whole
            .append(READERS_COUNTER, new BsonInt64(number))
            .append(READERS, new BsonDocument(LockDocument.keyOf(entry.owner()), held.toBson()));
      } else {
        whole.append(HOLDER, held.toBson());
      }
      return new Change(null, whole);
    }
    Update update = putting(document, held);
    update.set(COUNTER, new BsonInt64(number));
    if (entry.shared()) {
      update.set(READERS_COUNTER, new BsonInt64(number));
    } else {
      update.unset(READERS_COUNTER);
    }
    update.endsAt(held.untilMillis(), number);
    return update.change();
  }

  /** Puts the entry where nobody is in its way; what has expired goes. */
  private Update putting(LockDocument document, Held held) {
    Update update = new Update(document.name());
    update.set(path, held.toBson());
    if (entry.shared()) {
      update.require(COUNTER, equalTo(document.raw(COUNTER)));
      update.require(READERS_COUNTER, equalTo(document.raw(READERS_COUNTER)));
      update.require(
          "$or",
          new BsonArray(
              List.of(
                  new BsonDocument(HOLDER, equalTo(BsonNull.VALUE)),
                  new BsonDocument(
                      HOLDER + "." + Held.UNTIL,
                      new BsonDocument("$lte", new BsonDateTime(nowMillis))))));
      update.unset(HOLDER);
      pruneReaders(document, update);
    } else {
      update.require(VERSION, equalTo(document.raw(VERSION)));
      update.unset(READERS);
    }
    return update;
  }

  private void pruneReaders(LockDocument document, Update update) {
    int pruned = 0;
    for (Map.Entry<String, Held> reader : document.readers().entrySet()) {
      String field = READERS + "." + reader.getKey();
      if (!reader.getValue().isAliveAt(nowMillis) && !field.equals(path)) {
        update.require(field + "." + Held.UNTIL, new BsonDateTime(reader.getValue().untilMillis()));
        update.unset(field);
        if (++pruned == PRUNED_AT_ONCE) {
          return;
        }
      }
    }
  }

  /**
   * Changes nothing but the version. What is answered yes is written always, since a read can come
   * from a primary that does not know yet that another one has taken its place.
   */
  Change stamp(LockDocument document) {
    return ofLiving(document).change();
  }

  private Update ofLiving(LockDocument document) {
    Update update = ofOwn(document);
    update.require(path + "." + Held.UNTIL, new BsonDocument("$gt", new BsonDateTime(nowMillis)));
    return update;
  }

  Change confirm(LockDocument document, long number) {
    if (document.counter() >= number) {
      return stamp(document);
    }
    Update update = ofLiving(document);
    update.require(COUNTER, equalTo(document.raw(COUNTER)));
    update.set(COUNTER, new BsonInt64(number));
    if (entry.shared()) {
      update.set(READERS_COUNTER, new BsonInt64(number));
    } else {
      update.set(path + "." + Held.NUMBER, new BsonInt64(number));
      update.unset(READERS_COUNTER);
    }
    update.endsAt(nowMillis, number);
    return update.change();
  }

  Change extend(LockDocument document, long ttlMillis) {
    Update update = ofOwn(document);
    update.set(path + "." + Held.UNTIL, new BsonDateTime(until(ttlMillis)));
    update.set(path + "." + Held.TTL, new BsonInt64(Math.min(ttlMillis, MAX_TTL_MILLIS)));
    update.endsAt(until(ttlMillis), 0);
    return update.change();
  }

  /** Not done when the server's clock has passed the last moment. */
  Change repair(LockDocument document, long ttlMillis, long counter, long lastMillis) {
    Held held = held(ttlMillis, counter);
    Update update;
    if (document.mine(entry, nowMillis) != null) {
      update = ofOwn(document);
      update.require(COUNTER, equalTo(document.raw(COUNTER)));
      update.set(path, held.toBson());
    } else {
      update = putting(document, held);
    }
    if (counter > document.counter()) {
      update.set(COUNTER, new BsonInt64(counter));
      update.unset(READERS_COUNTER);
    }
    if (lastMillis < nowMillis + MAX_TTL_MILLIS) {
      update.require(
          "$expr",
          new BsonDocument(
              "$lte",
              new BsonArray(List.of(new BsonString("$$NOW"), new BsonDateTime(lastMillis)))));
    }
    update.endsAt(held.untilMillis(), counter);
    return update.change();
  }

  /** A document that nobody holds. */
  static BsonDocument free(String name) {
    return new BsonDocument(ID, new BsonString(name))
        .append(COUNTER, new BsonInt64(0))
        .append(VERSION, new BsonObjectId());
  }

  /** Takes the entry away, and keeps it with the time of that beside the others. */
  static Change release(LockEntry entry, String name) {
    String path = LockDocument.pathOf(entry);
    Update update = new Update(name);
    update.require(path + "." + Held.OWNER, new BsonString(entry.owner()));
    Change change = update.change();
    change
        .write()
        .append("$rename", new BsonDocument(path, new BsonString(LAST)))
        .append("$currentDate", new BsonDocument(RELEASED_AT, BsonBoolean.TRUE));
    return change;
  }

  /** Lets an entry that claims more time than it was given end when that is over, from now on. */
  static Change shorten(String name, String path, Held held, long nowMillis) {
    Update update = new Update(name);
    update.require(path + "." + Held.OWNER, new BsonString(held.owner()));
    update.require(path + "." + Held.UNTIL, new BsonDateTime(held.untilMillis()));
    update.set(path + "." + Held.UNTIL, new BsonDateTime(nowMillis + held.ttlMillis()));
    return update.change();
  }

  private Update ofOwn(LockDocument document) {
    Update update = new Update(document.name());
    update.require(path + "." + Held.OWNER, new BsonString(entry.owner()));
    return update;
  }

  /**
   * From when on nothing keeps the document: the end of its entry, or what its counter says as a
   * time, since one that a client's clock has put ahead must not be followed by lower ones.
   */
  private static BsonDateTime endsAt(long untilMillis, long counter) {
    return new BsonDateTime(Math.max(untilMillis, counter / 1_000));
  }

  /** The condition that a field has this value, whatever it is. */
  private static BsonDocument equalTo(BsonValue value) {
    return new BsonDocument("$eq", value);
  }

  /** An update that is being put together. */
  private static final class Update {
    private final BsonDocument filter;
    private final BsonDocument set = new BsonDocument(VERSION, new BsonObjectId());
    private final BsonDocument unset = new BsonDocument();
    private @Nullable BsonDateTime endsAt;

    Update(String name) {
      filter = new BsonDocument(ID, new BsonString(name));
    }

    void require(String field, BsonValue value) {
      filter.append(field, value);
    }

    void set(String field, BsonValue value) {
      set.append(field, value);
    }

    void unset(String field) {
      unset.append(field, NOTHING);
    }

    void endsAt(long untilMillis, long counter) {
      endsAt = Changes.endsAt(untilMillis, counter);
    }

    Change change() {
      BsonDocument write = new BsonDocument("$set", set);
      if (!unset.isEmpty()) {
        write.append("$unset", unset);
      }
      if (endsAt != null) {
        write.append("$max", new BsonDocument(ENDS_AT, endsAt));
      }
      return new Change(filter, write);
    }
  }
}
