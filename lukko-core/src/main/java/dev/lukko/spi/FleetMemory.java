package dev.lukko.spi;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a store that can forget tells of its memory: the records that it keeps, and which run of it
 * is asked.
 *
 * @param run the id of the present run, see {@link FleetRecord#idOf}
 * @param directory the texts of the records by their keys, whatever they hold
 * @param clockMillis the store's time
 * @param upSince when it was started, human-readable; empty for a store in this process
 */
public record FleetMemory(
    String run, SortedMap<String, String> directory, long clockMillis, String upSince) {

  public FleetMemory {
    directory = Collections.unmodifiableSortedMap(new TreeMap<>(directory));
  }

  /** The record under a key; empty if there is none, or none that can be read. */
  public Optional<FleetRecord> record(String key) {
    String text = directory.get(key);
    return text == null
        ? Optional.empty()
        : FleetRecord.parse(text).filter(record -> record.key().equals(key));
  }

  /** All records that can be read. */
  public List<FleetRecord> records() {
    return directory.keySet().stream().flatMap(key -> record(key).stream()).toList();
  }

  /**
   * The directory after a change that was decided on this state of it: a store applies it in one
   * step, and only if its directory is still this one.
   */
  public Map<String, String> after(FleetChange change, long nowMillis) {
    Map<String, String> changed = new TreeMap<>(directory);
    changed.keySet().removeAll(change.dropped());
    changed.put(change.record().key(), change.textAt(nowMillis));
    return changed;
  }
}
