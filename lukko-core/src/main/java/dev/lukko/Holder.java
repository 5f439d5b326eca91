package dev.lukko;

import dev.lukko.text.Printable;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Who holds a lock, as far as a node can tell.
 *
 * @param description the holder's metadata (process, host, thread, the caller's text); for an entry
 *     that another program wrote, what it wrote; never the secret part of the owner value
 * @param since when the holder acquired it, by the holder's own wall clock; empty if unknown
 * @param remaining how long the node will keep the entry, by the node's clock; empty if it has no
 *     expiry or the node did not say
 */
public record Holder(String description, Optional<Instant> since, Optional<Duration> remaining) {

  public Holder {
    description = Printable.of(description);
  }

  @Override
  public String toString() {
    return description
        + since.map(instant -> " since " + instant).orElse("")
        + remaining.map(left -> ", for another " + millis(left) + " ms").orElse("");
  }

  private static String millis(Duration left) {
    try {
      return Long.toString(left.toMillis());
    } catch (ArithmeticException ages) { // a node may say anything
      return "more than " + Long.MAX_VALUE;
    }
  }
}
