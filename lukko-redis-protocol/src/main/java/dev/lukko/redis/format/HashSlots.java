package dev.lukko.redis.format;

import java.nio.charset.StandardCharsets;

/** Where keys belong in a Redis Cluster: the slot is CRC16 (XModem) of the key modulo 16384. */
public final class HashSlots {
  public static final int SLOTS = 16_384;

  private static final int POLYNOMIAL = 0x1021;

  private HashSlots() {}

  /** The slot of a text that has no hash tag. */
  public static int of(String text) {
    int crc = 0;
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      crc ^= (b & 0xFF) << 8;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 0x8000) == 0 ? crc << 1 : crc << 1 ^ POLYNOMIAL;
      }
    }
    return (crc & 0xFFFF) % SLOTS;
  }

  /** The slot of a key. */
  public static int ofKey(String key) {
    return of(hashed(key));
  }

  /** The part of a key that decides on its slot: its hash tag if it has one, else the whole key. */
  public static String hashed(String key) {
    int open = key.indexOf('{');
    int close = open < 0 ? -1 : key.indexOf('}', open + 1);
    return close > open + 1 ? key.substring(open + 1, close) : key;
  }

  /** A text without braces that can be a hash tag and belongs to the same slot as the key. */
  public static String tagFor(String key) {
    String hashed = hashed(key);
    if (hashed.indexOf('}') < 0) {
      return hashed;
    }
    int slot = of(hashed);
    for (int n = 0; ; n++) { // on average 16384 tries, for names such as "a}b" only
      String candidate = Integer.toString(n, Character.MAX_RADIX);
      if (of(candidate) == slot) {
        return candidate;
      }
    }
  }
}
