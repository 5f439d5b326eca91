package dev.lukko.mongodb;

import com.mongodb.WriteConcern;
import java.util.ArrayList;
import java.util.List;

/** How safe a write is when it is acknowledged. */
final class WriteConcerns {
  /** What no failover of a replica set and no crash takes back. */
  static final WriteConcern SAFE = WriteConcern.MAJORITY.withJournal(true);

  private WriteConcerns() {}

  /**
   * Returns it if it can be used at all.
   *
   * @throws IllegalArgumentException if writes would not be acknowledged
   */
  static WriteConcern checked(WriteConcern concern) {
    if (!concern.isAcknowledged()) {
      throw new IllegalArgumentException(
          "writeConcern is "
              + concern
              + "; it must be acknowledged, since nobody knows of other writes whether they were"
              + " done");
    }
    return concern;
  }

  /** What it makes less safe. */
  static List<String> warnings(WriteConcern concern) {
    List<String> found = new ArrayList<>();
    if (!"majority".equals(concern.getWObject())) {
      found.add(
          "writeConcern is "
              + concern.getWObject()
              + ", not majority: a failover can take back a lock that somebody holds");
    }
    if (!Boolean.TRUE.equals(concern.getJournal())) {
      found.add(
          "writeConcern does not ask for the journal: a crash can forget a lock that somebody"
              + " holds");
    }
    return found;
  }
}
