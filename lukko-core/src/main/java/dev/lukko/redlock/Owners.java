package dev.lukko.redlock;

import dev.lukko.spi.OwnerValue;
import dev.lukko.time.Ticker;
import java.security.SecureRandom;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Makes the owner values of one client, a fresh one for every round. */
final class Owners {
  private final @Nullable SecureRandom random;
  private final Ticker ticker;

  Owners(@Nullable SecureRandom random, Ticker ticker) {
    this.random = random;
    this.ticker = ticker;
  }

  String next(String description) {
    Instant now = ticker.wallInstant();
    return random == null
        ? OwnerValue.create(now, description)
        : OwnerValue.create(random, now, description);
  }
}
