package dev.lukko.testkit.sim;

import java.security.SecureRandom;

/** Owner values and jitter from a seed: repeatable, and so of no use outside of a simulation. */
final class SeededRandom extends SecureRandom {
  private static final long serialVersionUID = 1L;

  private final transient Dice dice;

  SeededRandom(long seed) {
    super(null, null);
    dice = new Dice(seed);
  }

  @Override
  public void nextBytes(byte[] bytes) {
    long bits = 0;
    for (int i = 0; i < bytes.length; i++) {
      if ((i & 7) == 0) {
        bits = dice.next();
      }
      bytes[i] = (byte) bits;
      bits >>>= 8;
    }
  }

  @Override
  public double nextDouble() {
    return dice.unit();
  }
}
