package dev.lukko.spi;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * A set of nodes in which a majority counts. In a record it is written {@code id,id,id}, with
 * {@code /size} behind it if fewer are known.
 *
 * @param ids the ids of those that are known, sorted
 * @param size how many there are
 */
public record NodeSet(List<String> ids, int size) {

  public NodeSet {
    ids = List.copyOf(new TreeSet<>(ids));
    if (ids.size() > size) {
      throw new IllegalArgumentException(
          "members has " + ids.size() + " ids; there must not be more than size " + size);
    }
  }

  /** A set of which all nodes are known. */
  public static NodeSet of(Collection<String> ids) {
    TreeSet<String> distinct = new TreeSet<>(ids);
    return new NodeSet(List.copyOf(distinct), distinct.size());
  }

  /** Reads what {@link #text} wrote; empty if the text has another form. */
  static Optional<NodeSet> parse(String text) {
    String[] parts = text.split("/", 2);
    List<String> ids = List.of(parts[0].split(",", -1));
    int known = new TreeSet<>(ids).size();
    int size = parts.length == 1 ? known : Integer.parseInt(parts[1]);
    return known > size ? Optional.empty() : Optional.of(new NodeSet(ids, size));
  }

  String text() {
    return String.join(",", ids) + (ids.size() == size ? "" : "/" + size);
  }

  /** Whether this is the id of a node of the set. */
  public boolean contains(String id) {
    return ids.contains(id);
  }

  /** Whether some of its nodes are not known yet. */
  public boolean hasRoom() {
    return ids.size() < size;
  }

  /** The same set with one more node that is known. */
  public NodeSet with(String id) {
    List<String> more = new ArrayList<>(ids);
    more.add(id);
    return new NodeSet(more, size);
  }

  /** The same set with another node in the place of one, if that one is in it. */
  public NodeSet replaced(String id, String other) {
    if (!contains(id)) {
      return this;
    }
    List<String> changed = new ArrayList<>(ids);
    changed.remove(id);
    changed.add(other);
    return new NodeSet(changed, size);
  }
}
