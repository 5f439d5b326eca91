package dev.lukko.spi;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Instant;

/**
 * The random bits of owner values, fetched afresh from the operating system for each of them.
 *
 * <p>A generator that is seeded once, or that keeps bits in store, is copied together with its
 * process: two processes that are restored from one snapshot (a checkpoint, a cloned virtual
 * machine) would draw the same owners, and each would be taken for the holder of the other's lock.
 * The platform's default generator keeps bits for up to 100 ms.
 *
 * <p>Where the kernel's generator was copied too and does not learn of it (a virtual machine
 * without a generation id), only the clocks of the copies can differ, so the wall clock is mixed
 * in, too.
 */
final class OwnerEntropy {
  private static final int SEED_BYTES = 32;
  private static final SecureRandom SYSTEM = system();

  private OwnerEntropy() {}

  /** A generator whose {@code generateSeed} reads from the system, and keeps nothing in store. */
  private static SecureRandom system() {
    try {
      // The one that never blocks; there is none on Windows, whose default keeps no store.
      return SecureRandom.getInstance("NativePRNGNonBlocking");
    } catch (NoSuchAlgorithmException otherPlatform) {
      return new SecureRandom();
    }
  }

  /** 256 bits. */
  static byte[] bits(Instant now) {
    ByteBuffer difference = ByteBuffer.allocate(2 * Long.BYTES);
    difference.putLong(now.getEpochSecond()).putLong(now.getNano());
    MessageDigest digest = OwnerValue.sha256();
    digest.update(SYSTEM.generateSeed(SEED_BYTES));
    return digest.digest(difference.array());
  }
}
