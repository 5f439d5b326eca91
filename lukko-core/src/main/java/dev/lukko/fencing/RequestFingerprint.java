package dev.lukko.fencing;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A digest of a request, by which an idempotency key that is used again for another request is
 * found out. Take in everything that makes two requests different, and nothing that a retry
 * changes, such as its time.
 *
 * @param value 64 hexadecimal digits
 */
public record RequestFingerprint(String value) {
  private static final int SHORT = 12;

  /** Refuses what is no SHA-256 digest. */
  public RequestFingerprint {
    if (!value.matches("[0-9a-f]{64}")) {
      throw new IllegalArgumentException(
          "value is \"" + value + "\"; it must be 64 lower-case hexadecimal digits");
    }
  }

  /** The fingerprint of a text. */
  public static RequestFingerprint of(String request) {
    return of(request.getBytes(StandardCharsets.UTF_8));
  }

  /** The fingerprint of bytes. */
  public static RequestFingerprint of(byte[] request) {
    try {
      return new RequestFingerprint(
          HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(request)));
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every Java platform has SHA-256", missing);
    }
  }

  /** The first 12 digits, for people. */
  public String shortForm() {
    return value.substring(0, SHORT);
  }
}
