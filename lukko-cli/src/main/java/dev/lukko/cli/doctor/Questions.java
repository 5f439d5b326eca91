package dev.lukko.cli.doctor;

import dev.lukko.LockException;
import dev.lukko.redis.RedisProbe;
import dev.lukko.text.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Plain questions to one server, all within one time: the only type here that knows the driver. */
final class Questions {
  private final RedisProbe probe;
  private final long deadlineNanos;

  Questions(RedisProbe probe, long deadlineNanos) {
    this.probe = probe;
    this.deadlineNanos = deadlineNanos;
  }

  /**
   * Asks, and waits for the reply.
   *
   * @throws LockException if it is refused
   * @throws OutOfTime if the time is over
   */
  @Nullable Object ask(String... words) {
    try {
      return probe.call(left(), words);
    } catch (LockException failed) {
      throw refusedOrLate(failed);
    }
  }

  /** Asks several at once. */
  List<@Nullable Object> askAll(List<String[]> questions) {
    try {
      return probe.callAll(left(), questions);
    } catch (LockException failed) {
      throw refusedOrLate(failed);
    }
  }

  private RuntimeException refusedOrLate(LockException failed) {
    return deadlineNanos - System.nanoTime() <= 0 ? new OutOfTime(failed) : failed;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /** How much time is left, at least a millisecond. */
  Duration left() {
    return Duration.ofNanos(Math.max(1_000_000, deadlineNanos - System.nanoTime()));
  }

  /** The reply as a text, or null if it is refused. */
  @Nullable String text(String... words) {
    try {
      Object reply = ask(words);
      return reply == null ? null : Printable.of(reply.toString());
    } catch (LockException refused) {
      return null;
    }
  }

  /** The fields of the reply to INFO. */
  Map<String, String> info() {
    Map<String, String> fields = new HashMap<>();
    for (String line : String.valueOf(ask("INFO")).split("\r?\n", -1)) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        fields.put(line.substring(0, colon), Printable.of(line.substring(colon + 1)));
      }
    }
    return fields;
  }

  /** A setting, or null if this user may not ask for it. */
  @Nullable String setting(String name) {
    try {
      return ask("CONFIG", "GET", name) instanceof List<?> reply && reply.size() == 2
          ? Printable.of(String.valueOf(reply.get(1)))
          : null;
    } catch (LockException refused) {
      return null;
    }
  }

  /** The server's time in microseconds. */
  long timeMicros() {
    List<String> reply = new ArrayList<>();
    if (ask("TIME") instanceof List<?> parts) {
      parts.forEach(part -> reply.add(String.valueOf(part)));
    }
    if (reply.size() != 2
        || !reply.get(0).matches("[0-9]{1,12}")
        || !reply.get(1).matches("[0-9]{1,6}")) {
      throw new LockException("the server's time cannot be read");
    }
    return Long.parseLong(reply.get(0)) * 1_000_000 + Long.parseLong(reply.get(1));
  }
}
