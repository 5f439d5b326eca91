package dev.lukko.postgres;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The numbers by which the server knows a name: the start of SHA-256 over namespace, a zero
 * character (which neither can contain), and name.
 *
 * @param namespace the client's namespace
 * @param name the resource
 * @param lock the 64-bit advisory lock number, in the key space of one {@code bigint}
 * @param waitHigh with {@code waitLow} the number by which waiters show that they wait, in the
 *     server's other key space, that of two {@code integer}s
 * @param waitLow the lower half
 */
record LockKey(String namespace, String name, long lock, int waitHigh, int waitLow) {

  /** Makes a key of a name; tests put in one that collides. */
  @FunctionalInterface
  interface Maker {
    LockKey of(String namespace, String name);
  }

  static LockKey of(String namespace, String name) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      sha.update(namespace.getBytes(StandardCharsets.UTF_8));
      sha.update((byte) 0);
      ByteBuffer digest = ByteBuffer.wrap(sha.digest(name.getBytes(StandardCharsets.UTF_8)));
      return new LockKey(namespace, name, digest.getLong(), digest.getInt(), digest.getInt());
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every Java platform has SHA-256", missing);
    }
  }

  String qualified() {
    return namespace + "/" + name;
  }
}
