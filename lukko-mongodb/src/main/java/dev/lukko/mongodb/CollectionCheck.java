package dev.lukko.mongodb;

import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;

/** Whether a collection can hold locks. */
final class CollectionCheck {
  private static final BsonDocument SIMPLE = new BsonDocument("locale", new BsonString("simple"));

  private CollectionCheck() {}

  /**
   * Looks at what the server tells of it.
   *
   * @throws UnsuitableCollectionException if it cannot
   */
  static void check(String name, BsonDocument told) {
    BsonValue type = told.get("type");
    if (type != null && !type.equals(new BsonString("collection"))) {
      throw unsuitable(name, "is no collection, but a " + type.asString().getValue());
    }
    BsonDocument options = told.getDocument("options", new BsonDocument());
    BsonDocument collation = options.getDocument("collation", SIMPLE);
    if (!new BsonString("simple").equals(collation.get("locale"))) {
      throw unsuitable(name, "has a collation, by which other names are the same");
    }
    if (options.getBoolean("capped", BsonBoolean.FALSE).getValue()) {
      throw unsuitable(name, "is capped, which deletes entries that are held");
    }
  }

  private static UnsuitableCollectionException unsuitable(String name, String why) {
    return new UnsuitableCollectionException("collection \"" + name + "\" " + why);
  }
}
