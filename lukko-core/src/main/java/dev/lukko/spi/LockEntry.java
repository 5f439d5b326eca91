package dev.lukko.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The identity of what a node stores for one acquisition.
 *
 * @param resources the locked names: sorted, without duplicates, at least one. All or nothing: a
 *     node applies a request to all of them in one atomic step, or to none
 * @param owner the whole owner value; two owners are the same only if every character is
 * @param shared whether this is a reader's entry, which excludes exclusive entries only
 * @param seen what the client has last seen of the node that it asks: {@link FleetRecord#seen} of
 *     the node's record in the client's fleet, or its identity if it keeps no records; empty if
 *     nothing. Another server, or a changed fleet, is noticed by it in the very request that meets
 *     it. It is no part of what is stored
 */
public record LockEntry(List<String> resources, String owner, boolean shared, String seen) {

  public LockEntry {
    resources = List.copyOf(resources);
    if (resources.isEmpty()) {
      throw new IllegalArgumentException("resources is empty; it must have at least one name");
    }
    if (owner.isEmpty()) {
      throw new IllegalArgumentException("owner is empty; it must be a random value");
    }
  }

  /** An entry for a node of which nothing was seen. */
  public LockEntry(List<String> resources, String owner, boolean shared) {
    this(resources, owner, shared, "");
  }

  /** The same entry for a node of which this was seen. */
  public LockEntry seen(String ofNode) {
    return new LockEntry(resources, owner, shared, ofNode);
  }

  /** An exclusive entry. */
  public static LockEntry exclusive(List<String> resources, String owner) {
    return new LockEntry(resources, owner, false);
  }

  /** What was seen of a node makes no other entry. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LockEntry entry
        && shared == entry.shared
        && owner.equals(entry.owner)
        && resources.equals(entry.resources);
  }

  @Override
  public int hashCode() {
    return 31 * owner.hashCode() + resources.hashCode();
  }
}
