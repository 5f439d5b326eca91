package dev.lukko.spi;

import java.util.Set;

/**
 * A change of the records that a server keeps.
 *
 * @param record what is written
 * @param quarantineMillis how long the server must not vote yet, by its own clock; or {@link
 *     #AS_WRITTEN}
 * @param dropped the keys of records that are removed in the same step
 */
public record FleetChange(FleetRecord record, long quarantineMillis, Set<String> dropped) {

  /** From when on the server votes is what the record says. */
  public static final long AS_WRITTEN = -1;

  /**
   * What is added to a quarantine after which the server votes again only when the counters of a
   * majority have been read: a thousand years. Nobody waits for them, since whoever has read the
   * counters writes the record anew.
   */
  public static final long UNTIL_READ_MILLIS = 365_250L * 24 * 60 * 60 * 1000;

  public FleetChange {
    dropped = Set.copyOf(dropped);
    if (quarantineMillis < AS_WRITTEN) {
      throw new IllegalArgumentException(
          "quarantineMillis is " + quarantineMillis + "; it must not be less than -1");
    }
  }

  /** A change that removes nothing. */
  public static FleetChange of(FleetRecord record, long quarantineMillis) {
    return new FleetChange(record, quarantineMillis, Set.of());
  }

  /** The text that is written at a time of the server's clock. */
  public String textAt(long nowMillis) {
    if (quarantineMillis == AS_WRITTEN) {
      return record.text();
    }
    return quarantineMillis == 0
        ? record.ofRun() + " 0 " + FleetRecord.VOTING
        : record.ofRun() + " " + (nowMillis + quarantineMillis) + " " + record.why();
  }
}
