package dev.lukko.mongodb;

import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * What is stored for one resource, as it was read.
 *
 * <p>Its id is the resource's name. {@code counter} survives release; {@code readersCounter} is the
 * counter if its number was last given to a reader, so that whatever changes the counter alone
 * takes that away; {@code holder} is the exclusive entry, {@code readers} has the shared ones;
 * {@code endsAt} is what the index for the clean-up goes by; {@code v} is another value after each
 * write.
 */
final class LockDocument {
  static final String ID = "_id";
  static final String COUNTER = "counter";
  static final String READERS_COUNTER = "readersCounter";
  static final String HOLDER = "holder";
  static final String READERS = "readers";
  static final String ENDS_AT = "endsAt";
  static final String VERSION = "v";

  private static final int KEY_BYTES = 16;

  private final String name;
  private final @Nullable BsonDocument stored;
  private final @Nullable Held holder;
  private final Map<String, Held> readers;

  private LockDocument(
      String name,
      @Nullable BsonDocument stored,
      @Nullable Held holder,
      Map<String, Held> readers) {
    this.name = name;
    this.stored = stored;
    this.holder = holder;
    this.readers = readers;
  }

  /**
   * Reads it.
   *
   * @param stored the document, or null if there is none
   * @throws AlteredDocumentException if its entries are none
   */
  static LockDocument of(String name, @Nullable BsonDocument stored) {
    Map<String, Held> readers = new TreeMap<>();
    Held holder = null;
    if (stored != null) {
      holder = held(name, HOLDER, stored.get(HOLDER));
      BsonValue all = stored.get(READERS);
      if (all != null && !all.isNull()) {
        if (!all.isDocument()) {
          throw new AlteredDocumentException(name, READERS, "is no document");
        }
        all.asDocument()
            .forEach(
                (key, value) -> {
                  Held reader = held(name, READERS + "." + key, value);
                  if (reader != null) {
                    readers.put(key, reader);
                  }
                });
      }
    }
    return new LockDocument(name, stored, holder, readers);
  }

  private static @Nullable Held held(String name, String field, @Nullable BsonValue value) {
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isDocument()) {
      throw new AlteredDocumentException(name, field, "is no document");
    }
    BsonDocument entry = value.asDocument();
    BsonValue owner = entry.get(Held.OWNER);
    BsonValue until = entry.get(Held.UNTIL);
    if (owner == null || !owner.isString()) {
      throw new AlteredDocumentException(name, field + "." + Held.OWNER, "is no text");
    }
    if (until == null || !until.isDateTime()) {
      throw new AlteredDocumentException(name, field + "." + Held.UNTIL, "is no date");
    }
    BsonValue ttl = entry.get(Held.TTL);
    return new Held(
        owner.asString().getValue(),
        until.asDateTime().getValue(),
        ttl != null && ttl.isInt64() ? ttl.asInt64().getValue() : 0,
        number(name, field + "." + Held.NUMBER, entry.get(Held.NUMBER)));
  }

  /** A number from 0 to the highest counter, of whatever type; zero if there is none. */
  private static long number(String name, String field, @Nullable BsonValue value) {
    if (value == null) {
      return 0;
    }
    if (value.isNumber()) {
      long number = value.asNumber().longValue();
      boolean whole = !value.isDouble() || value.asDouble().getValue() == number;
      if (whole && number >= 0 && number <= GrantRequest.MAX_COUNTER) {
        return number;
      }
    }
    throw new AlteredDocumentException(
        name, field, "is no whole number from 0 to " + GrantRequest.MAX_COUNTER);
  }

  String name() {
    return name;
  }

  boolean isMissing() {
    return stored == null;
  }

  /** A field as it is stored; as a condition of a write, null stands for one that is not there. */
  BsonValue raw(String field) {
    return stored == null ? BsonNull.VALUE : stored.getOrDefault(field, BsonNull.VALUE);
  }

  /**
   * The counter, zero if there is none.
   *
   * @throws AlteredDocumentException if it is no number in range
   */
  long counter() {
    return number(name, COUNTER, stored == null ? null : stored.get(COUNTER));
  }

  /**
   * The counter of a document of which nothing else was read.
   *
   * @throws AlteredDocumentException if it is no number in range
   */
  static long counterOf(BsonDocument stored) {
    return number(String.valueOf(stored.get(ID)), COUNTER, stored.get(COUNTER));
  }

  /** Whether the counter's number was last given to a reader. */
  boolean isGivenToReader() {
    BsonValue mark = raw(READERS_COUNTER);
    long counter = counter();
    return counter > 0 && mark.isNumber() && mark.asNumber().longValue() == counter;
  }

  @Nullable Held holder() {
    return holder;
  }

  /** The readers' entries by their keys, whether they live or not. */
  Map<String, Held> readers() {
    return readers;
  }

  /** The entry's own part, if it lives. */
  @Nullable Held mine(LockEntry entry, long nowMillis) {
    Held own = entry.shared() ? readers.get(keyOf(entry.owner())) : holder;
    return own != null && own.owner().equals(entry.owner()) && own.isAliveAt(nowMillis)
        ? own
        : null;
  }

  /** Who is in the way of the entry: of several readers the one that lives longest. */
  @Nullable Held other(LockEntry entry, long nowMillis) {
    if (holder != null
        && holder.isAliveAt(nowMillis)
        && (entry.shared() || !holder.owner().equals(entry.owner()))) {
      return holder;
    }
    Held longest = null;
    if (!entry.shared()) {
      for (Held reader : readers.values()) {
        if (reader.isAliveAt(nowMillis)
            && (longest == null || reader.untilMillis() > longest.untilMillis())) {
          longest = reader;
        }
      }
    }
    return longest;
  }

  /** In which field the entry is kept. */
  static String pathOf(LockEntry entry) {
    return entry.shared() ? READERS + "." + keyOf(entry.owner()) : HOLDER;
  }

  /** The name of a reader's field: owners have characters that names of fields cannot have. */
  static String keyOf(String owner) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(owner.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(Arrays.copyOf(digest, KEY_BYTES));
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every Java platform has SHA-256", missing);
    }
  }
}
