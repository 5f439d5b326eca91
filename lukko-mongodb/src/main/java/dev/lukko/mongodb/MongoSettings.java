package dev.lukko.mongodb;

import com.mongodb.WriteConcern;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a node, checked.
 *
 * @param name the name that was given, or null
 */
record MongoSettings(
    @Nullable String name,
    String database,
    String collection,
    int maxConnections,
    int queueCapacity,
    long requestTimeoutMillis,
    long retentionSeconds,
    WriteConcern writeConcern) {}
