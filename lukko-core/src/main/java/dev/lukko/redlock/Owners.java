package dev.lukko.redlock;

import dev.lukko.spi.OwnerValue;
import dev.lukko.time.Ticker;
import java.security.SecureRandom;

/** Makes the owner values of one client, a fresh one for every round. */
final class Owners {
  private final SecureRandom random;
  private final Ticker ticker;

  Owners(SecureRandom random, Ticker ticker) {
    this.random = random;
    this.ticker = ticker;
  }

  String next(String description) {
    return OwnerValue.create(random, ticker.wallInstant(), description);
  }
}
