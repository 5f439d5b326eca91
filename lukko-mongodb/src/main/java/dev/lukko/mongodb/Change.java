package dev.lukko.mongodb;

import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * A write of one document, which is done only if the document is still as it was read.
 *
 * @param filter which document, and what must be so; null for an insertion
 * @param write the update; or the document that is inserted if there is none of its id
 */
record Change(@Nullable BsonDocument filter, BsonDocument write) {}
