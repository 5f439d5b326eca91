package dev.lukko.spi;

import java.util.List;

/**
 * The identity of what a node stores for one acquisition.
 *
 * @param resources the locked names: sorted, without duplicates, at least one. All or nothing: a
 *     node applies a request to all of them in one atomic step, or to none
 * @param owner the whole owner value; two owners are the same only if every character is
 * @param shared whether this is a reader's entry, which excludes exclusive entries only
 */
public record LockEntry(List<String> resources, String owner, boolean shared) {

  public LockEntry {
    resources = List.copyOf(resources);
    if (resources.isEmpty()) {
      throw new IllegalArgumentException("resources is empty; it must have at least one name");
    }
    if (owner.isEmpty()) {
      throw new IllegalArgumentException("owner is empty; it must be a random value");
    }
  }

  /** An exclusive entry. */
  public static LockEntry exclusive(List<String> resources, String owner) {
    return new LockEntry(resources, owner, false);
  }
}
