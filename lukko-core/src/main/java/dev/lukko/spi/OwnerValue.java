package dev.lukko.spi;

import dev.lukko.Holder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The text format of an owner value: 160 random bits, then when and by whom, for people.
 *
 * <pre>{@code q0aGm0T0Zk3mXx2nV4t0b1Yw9eU 2026-01-31T12:00:00.123Z 4711@web-1/main nightly billing}
 * </pre>
 *
 * <p>Ownership is the whole text. Its random part alone makes it unique; the rest is never used to
 * decide anything.
 */
public final class OwnerValue {
  private static final int RANDOM_BYTES = 20;
  private static final int RANDOM_CHARS = 27;
  private static final int SHOWN_FOREIGN_CHARS = 12;
  private static final int MAX_DESCRIPTION = 190;
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  private static volatile Second lastSecond = new Second(Long.MIN_VALUE, "");

  private OwnerValue() {}

  /**
   * A fresh value: unique and unguessable, also among processes that were restored from one
   * snapshot, as long as the operating system gives each of them random bits of its own.
   *
   * @param now the wall clock
   */
  public static String create(Instant now, String description) {
    return create(Arrays.copyOf(OwnerEntropy.bits(now), RANDOM_BYTES), now, description);
  }

  /** The same with random bits from this source, for simulations that can be repeated. */
  public static String create(SecureRandom random, Instant now, String description) {
    byte[] bits = new byte[RANDOM_BYTES];
    random.nextBytes(bits);
    return create(bits, now, description);
  }

  private static String create(byte[] bits, Instant now, String description) {
    String shown =
        description.length() <= MAX_DESCRIPTION
            ? description
            : description.substring(0, MAX_DESCRIPTION);
    return BASE64.encodeToString(bits) + ' ' + toText(now) + ' ' + shown;
  }

  /**
   * The instant to the millisecond. The part down to the second is kept, since formatting is slow.
   */
  private static String toText(Instant now) {
    long second = now.getEpochSecond();
    Second known = lastSecond;
    if (known.epochSecond != second) {
      String text = Instant.ofEpochSecond(second).toString();
      known = new Second(second, text.substring(0, text.length() - 1));
      lastSecond = known;
    }
    int millis = now.getNano() / 1_000_000 + 1_000;
    return known.text + '.' + Integer.toString(millis).substring(1) + 'Z';
  }

  private record Second(long epochSecond, String text) {}

  /**
   * What may be shown of an owner value that was read from a node. A value in a foreign format is
   * shown by its first characters.
   *
   * @param owner what the node has stored
   * @param remaining how long the node will keep it, or null if there is no expiry
   */
  public static Holder describe(String owner, @Nullable Duration remaining) {
    Optional<Duration> left = Optional.ofNullable(remaining);
    int end = owner.indexOf(' ', RANDOM_CHARS + 1);
    if (owner.length() > RANDOM_CHARS && owner.charAt(RANDOM_CHARS) == ' ' && end > 0) {
      try {
        Instant since = Instant.parse(owner.substring(RANDOM_CHARS + 1, end));
        return new Holder(owner.substring(end + 1), Optional.of(since), left);
      } catch (DateTimeParseException foreign) {
        // Not ours after all; shown as any other foreign value.
      }
    }
    String start =
        owner.length() <= SHOWN_FOREIGN_CHARS
            ? owner
            : owner.substring(0, SHOWN_FOREIGN_CHARS) + "...";
    return new Holder("a foreign owner '" + start + "'", Optional.empty(), left);
  }

  /** A short digest by which one owner value can be recognised without being shown. */
  public static String fingerprint(String owner) {
    byte[] digest = sha256().digest(owner.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(digest, 0, 6);
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every Java platform has SHA-256", missing);
    }
  }
}
