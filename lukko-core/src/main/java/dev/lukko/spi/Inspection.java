package dev.lukko.spi;

import dev.lukko.Holder;
import java.util.List;
import java.util.OptionalLong;

/**
 * What a node has stored for one resource, for people.
 *
 * @param holders the holders: none, one, or several shared ones
 * @param counter the counter, or empty if there is none
 * @param ownerFingerprints for each holder, in the same order, a short digest of its whole owner
 *     value, by which entries of one acquisition can be recognised on several nodes
 */
public record Inspection(
    List<Holder> holders, OptionalLong counter, List<String> ownerFingerprints) {

  public Inspection {
    holders = List.copyOf(holders);
    ownerFingerprints = List.copyOf(ownerFingerprints);
  }
}
