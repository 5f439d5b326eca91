package dev.lukko.bench.soak;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Everything that the clients have told. */
final class Journal {
  private final Map<String, Long> acknowledged = new HashMap<>();
  private final Map<Long, String> granted = new HashMap<>();
  private final List<Long> tokensGrantedTwice = new ArrayList<>();
  private final Map<Said, Integer> counts = new EnumMap<>(Said.class);
  private final Map<String, Integer> lossesByReason = new HashMap<>();
  private int refusedWhileValid;
  private int refusedWhileValidAndClocksRight;
  private boolean clocksMayBeWrong;
  private @Nullable String holder;
  private long lastGrantNanos;

  /** From now on two leases may be valid at the same time. */
  synchronized void clocksMayBeWrong() {
    clocksMayBeWrong = true;
  }

  synchronized void heard(String client, String line) {
    String[] words = Said.words(line);
    if (words.length == 0) {
      return;
    }
    Said said = Said.of(words[0]);
    counts.merge(said, 1, Integer::sum);
    switch (said) {
      case GRANTED -> granted(client, Long.parseLong(words[1]));
      case RELEASED -> holder = client.equals(holder) ? null : holder;
      case LOST -> lossesByReason.merge(words[2], 1, Integer::sum);
      case ADDED, FOUND -> acknowledged.put(words[1], Long.parseLong(words[2]));
      case REFUSED -> {
        if (words[3].equals("valid")) {
          refusedWhileValid++;
          refusedWhileValidAndClocksRight += clocksMayBeWrong ? 0 : 1;
        }
      }
      case READY, UNKNOWN, BUSY, UNAVAILABLE, CLOSED -> {
        // Counted.
      }
    }
  }

  private void granted(String client, long token) {
    holder = client;
    lastGrantNanos = System.nanoTime();
    if (granted.put(token, client) != null) {
      tokensGrantedTwice.add(token);
    }
  }

  /** Who was granted the lock last and has not told of the release. */
  synchronized @Nullable String holder() {
    return holder;
  }

  /** When the last grant was told of, on the monotonic clock. */
  synchronized long lastGrantNanos() {
    return lastGrantNanos;
  }

  synchronized int count(Said said) {
    return counts.getOrDefault(said, 0);
  }

  synchronized int acknowledgedCount() {
    return acknowledged.size();
  }

  synchronized int losses() {
    return count(Said.LOST);
  }

  synchronized Map<String, Integer> lossesByReason() {
    return Map.copyOf(lossesByReason);
  }

  synchronized Map<String, Long> acknowledged() {
    return Map.copyOf(acknowledged);
  }

  synchronized Map<Long, String> granted() {
    return Map.copyOf(granted);
  }

  synchronized List<Long> tokensGrantedTwice() {
    return List.copyOf(tokensGrantedTwice);
  }

  synchronized int refusedWhileValid() {
    return refusedWhileValid;
  }

  synchronized int refusedWhileValidAndClocksRight() {
    return refusedWhileValidAndClocksRight;
  }
}
