package dev.lukko.testkit;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;

/** Addresses with a password in them that nobody can read, as typing and pasting makes them. */
public final class MalformedAddresses {
  /** What must not be seen anywhere, in whole or in its larger part. */
  public static final String SECRET = "S3cretW0rd";

  private static final List<String> SHAPES =
      List.of(
          "redis://:%s\n@host:6379",
          "redis://app:%s@host:6379\n",
          "redis:app:%s@host",
          "redis:/app:%s@host:6379/0",
          "redis//app:%s@host",
          "app:%s@host:6379",
          "%s@host",
          "redis://app:%s",
          "redis://app:%s@",
          "redis://app:%s@/0",
          "redis://app:%s@host:port",
          "redis://host:6379:%s",
          "redis://host:%s",
          "redis://host:6379/%s",
          "redis://host:6379?password=%s",
          "redis://host:6379?pass=a@%s",
          "redis://app:p w %s@host",
          "redis://app:%%zz%s@host",
          "redis://<app>:%s@host",
          "rediss://app:\"%s\"@host",
          "http://app:%s@host:6379",
          "%s://host:6379",
          "redis://app:%s@host:99999",
          "redis-sentinel://app:%s@host:26379",
          "redis-cluster://app:%s@host:6379/7",
          "redis-socket://app:%s@host",
          "jdbc:redis://app:%s@host",
          "jdbc:unknown://host/db?user=app&password=%s",
          "jdbc:postgresql:app:%s@host/db:x",
          "\u001b]0;redis://app:%s@host",
          "\u202eredis://app:%s@host",
          "%s");

  private MalformedAddresses() {}

  /** A thousand of them, the same each time. */
  public static List<String> thousand() {
    Random random = new Random(71);
    Set<String> addresses = new LinkedHashSet<>();
    SHAPES.forEach(shape -> addresses.add(String.format(shape, SECRET)));
    while (addresses.size() < 1_000) {
      String shape = String.format(SHAPES.get(random.nextInt(SHAPES.size())), SECRET);
      int secret = shape.indexOf(SECRET);
      int place = random.nextInt(shape.length());
      if (place <= secret || place >= secret + SECRET.length()) {
        String noise =
            List.of(" ", "\n", "\t", "\u0000", "\\", "^", "{", "|", "\"").get(random.nextInt(9));
        addresses.add(shape.substring(0, place) + noise + shape.substring(place));
      }
    }
    return new ArrayList<>(addresses);
  }

  /** Whether a text shows the secret, or half of it. */
  public static boolean isSeenIn(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    String secret = SECRET.toLowerCase(Locale.ROOT);
    return lower.contains(secret.substring(0, secret.length() / 2))
        || lower.contains(secret.substring(secret.length() / 2));
  }
}
