package dev.lukko.mongodb;

import dev.lukko.spi.LockEntry;
import java.util.List;

/**
 * What was read in one request.
 *
 * @param nowMillis the server's clock, not after the documents were read
 * @param fleet the document of the fleets
 * @param documents those of the resources, in their order
 */
record Snapshot(long nowMillis, FleetDocument fleet, List<LockDocument> documents) {

  Decisions about(LockEntry entry) {
    return new Decisions(entry, documents, nowMillis);
  }
}
