package dev.lukko.cli.doctor;

import dev.lukko.LockException;
import dev.lukko.redis.RedisRights;
import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.text.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The entries of locks at a server, as far as it was looked.
 *
 * @param locks how many there are
 * @param counters how many counters there are
 * @param complete whether all keys were looked through
 * @param tooLong entries that live longer than anybody may have asked for
 * @param endless entries that never end
 * @param longestMillis the longest remaining time
 * @param trouble why it was not looked, or empty
 */
record Entries(
    int locks,
    int counters,
    boolean complete,
    List<String> tooLong,
    List<String> endless,
    long longestMillis,
    String trouble) {
  private static final int MAX_KEYS = 10_000;
  private static final String COUNTER = ":token";
  private static final int NAMED = 3;

  /** Looks through the keys, for at most half of the time that is left. */
  static Entries of(Questions questions, RedisKeyFormat format, Duration maxTtl) {
    long stopNanos = System.nanoTime() + questions.left().toNanos() / 2;
    List<String> locks = new ArrayList<>();
    int counters = 0;
    String cursor = "0";
    try {
      do {
        if (!(questions.ask("SCAN", cursor, "MATCH", RedisRights.pattern(format), "COUNT", "1000")
            instanceof List<?> reply)) {
          break;
        }
        if (reply.size() != 2 || !(reply.get(1) instanceof List<?> keys)) {
          throw new LockException("the reply to SCAN cannot be read");
        }
        cursor = String.valueOf(reply.get(0));
        for (Object found : keys) {
          String key = String.valueOf(found);
          counters += isCounter(key, format) ? 1 : 0;
          String entry = entryOf(key, format);
          if (!entry.isEmpty()) {
            locks.add(entry);
          }
        }
      } while (!cursor.equals("0")
          && counters + locks.size() < MAX_KEYS
          && System.nanoTime() - stopNanos < 0);
      return judge(questions, locks, counters, cursor.equals("0"), maxTtl);
    } catch (LockException refused) {
      return new Entries(
          0, 0, false, List.of(), List.of(), 0, String.valueOf(refused.getMessage()));
    }
  }

  private static boolean isCounter(String key, RedisKeyFormat format) {
    return format == RedisKeyFormat.PLAIN
        ? key.startsWith("lukko\u0001" + COUNTER)
        : key.endsWith("}" + COUNTER);
  }

  /** The key of the entry that a key is or belongs to; empty if it is neither. */
  private static String entryOf(String key, RedisKeyFormat format) {
    if (format == RedisKeyFormat.PREFIXED) {
      return key.endsWith("}") ? key : "";
    }
    // only the counter tells that a key of the plain format is ours
    int end = key.indexOf("}:");
    return isCounter(key, format) && end > 0 ? key.substring(end + 2) : "";
  }

  private static Entries judge(
      Questions questions, List<String> locks, int counters, boolean complete, Duration maxTtl) {
    List<Object> remaining =
        questions.askAll(locks.stream().map(key -> new String[] {"PTTL", key}).toList());
    List<String> tooLong = new ArrayList<>();
    List<String> endless = new ArrayList<>();
    long longest = 0;
    int held = 0;
    for (int i = 0; i < locks.size(); i++) {
      long millis = remaining.get(i) instanceof Long number ? number : 0;
      held += millis == -2 ? 0 : 1; // -2: it is not there
      longest = Math.max(longest, millis);
      if (millis > maxTtl.toMillis()) {
        tooLong.add(locks.get(i));
      } else if (millis == -1) {
        endless.add(locks.get(i));
      }
    }
    return new Entries(held, counters, complete, tooLong, endless, longest, "");
  }

  /** A few of them by name. */
  static String some(List<String> keys) {
    String first =
        keys.subList(0, Math.min(NAMED, keys.size())).stream()
            .map(Printable::of)
            .collect(Collectors.joining(", "));
    return keys.size() > NAMED ? first + " and " + (keys.size() - NAMED) + " more" : first;
  }
}
