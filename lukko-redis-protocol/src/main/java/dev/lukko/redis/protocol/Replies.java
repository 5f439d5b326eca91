package dev.lukko.redis.protocol;

import dev.lukko.Holder;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.OwnerValue;
import dev.lukko.spi.ReleaseReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Reads what the scripts return; the forms are named at the head of their files. */
final class Replies {
  private static final long YES = 1;
  private static final long OTHER = 2;
  private static final long NOT_VOTING = 3;

  private Replies() {}

  /**
   * A grant's reply.
   *
   * @param statusOf makes a status from a record and the server's time in milliseconds
   */
  static GrantReply grant(
      List<Object> reply, String[] keys, BiFunction<String, Long, NodeStatus> statusOf) {
    if (reply.size() == 1) {
      return new GrantReply.Granted(Long.parseLong(text(reply, 0)));
    }
    long code = number(reply, 0);
    if (code == YES) {
      return new GrantReply.Granted(number(reply, 1));
    }
    return code == NOT_VOTING
        ? new NotVoting(statusOf.apply(text(reply, 1), number(reply, 2)))
        : new GrantReply.Refused(number(reply, 1), holder(reply, keys));
  }

  /** A confirmation's reply; see {@link #grant}. */
  static ConfirmReply confirm(List<Object> reply, BiFunction<String, Long, NodeStatus> statusOf) {
    long code = number(reply, 0);
    if (code == NOT_VOTING) {
      return new NotVoting(statusOf.apply(text(reply, 1), number(reply, 2)));
    }
    if (code == YES) {
      return new ConfirmReply.Confirmed();
    }
    return code == OTHER ? new ConfirmReply.Higher(number(reply, 1)) : new ConfirmReply.NotHeld();
  }

  /** An extension's or a repair's reply; see {@link #grant}. */
  static ExtendReply extend(
      List<Object> reply, String[] keys, BiFunction<String, Long, NodeStatus> statusOf) {
    long code = number(reply, 0);
    if (code == YES) {
      return new ExtendReply.Extended();
    }
    if (code == NOT_VOTING) {
      return new NotVoting(statusOf.apply(text(reply, 1), number(reply, 2)));
    }
    return code == OTHER
        ? new ExtendReply.HeldByOther(holder(reply, keys))
        : new ExtendReply.Missing(number(reply, 1));
  }

  static ReleaseReply release(List<Object> reply) {
    long code = number(reply, 0);
    return code >= YES
        ? new ReleaseReply.Released(Math.toIntExact(code - YES))
        : new ReleaseReply.NotHeld();
  }

  /** Where a look through the counters goes on, and the highest that was found so far. */
  record Page(String next, long highest) {
    static Page of(List<Object> reply, long before) {
      return new Page(text(reply, 0), Math.max(before, Long.parseLong(text(reply, 1))));
    }

    boolean isLast() {
      return next.equals("0");
    }
  }

  static Inspection inspection(List<Object> reply, String key) {
    long counter = number(reply, 0);
    String kind = text(reply, 1);
    List<Holder> holders = new ArrayList<>();
    List<String> fingerprints = new ArrayList<>();
    for (int i = 2; i < reply.size(); i += 2) {
      holders.add(holder(kind, text(reply, i), number(reply, i + 1), key));
      fingerprints.add(OwnerValue.fingerprint(text(reply, i)));
    }
    return new Inspection(
        holders, counter < 0 ? OptionalLong.empty() : OptionalLong.of(counter), fingerprints);
  }

  /** A refusal ends with index, kind, holder and remaining time. */
  private static Holder holder(List<Object> reply, String[] keys) {
    String key = keys[Math.toIntExact(number(reply, 2)) - 1];
    return holder(text(reply, 3), text(reply, 4), number(reply, 5), key);
  }

  private static Holder holder(String kind, String owner, long remainingMillis, String key) {
    @Nullable Duration remaining = remainingMillis < 0 ? null : Duration.ofMillis(remainingMillis);
    if (kind.equals("exclusive") || kind.equals("shared")) {
      return OwnerValue.describe(owner, remaining);
    }
    if (kind.equals("waiting")) {
      return new Holder(
          "a waiter with an earlier place", Optional.empty(), Optional.ofNullable(remaining));
    }
    return new Holder(
        "a foreign key '" + key + "' of type " + kind,
        Optional.empty(),
        Optional.ofNullable(remaining));
  }

  private static long number(List<Object> reply, int index) {
    return (Long) reply.get(index);
  }

  private static String text(List<Object> reply, int index) {
    return (String) reply.get(index);
  }
}
