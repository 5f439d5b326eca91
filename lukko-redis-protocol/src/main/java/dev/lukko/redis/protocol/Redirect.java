package dev.lukko.redis.protocol;

import dev.lukko.redis.protocol.RedisAddress.Place;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a server of a cluster says of a request that belongs to another one, and was not applied.
 */
public final class Redirect {
  private static final Pattern MOVED =
      Pattern.compile("MOVED \\d{1,5} ([A-Za-z0-9._:?\\[\\]-]*):(\\d{1,5})");

  private Redirect() {}

  /**
   * Where a request belongs.
   *
   * @param asked the server that said so
   * @return null if the failure is another one
   */
  public static @Nullable Place of(Throwable failure, Place asked) {
    Throwable cause = Faults.ofRequest(failure).cause();
    if (!(cause instanceof ServerErrorException) || cause.getMessage() == null) {
      return null;
    }
    Matcher matcher = MOVED.matcher(cause.getMessage());
    if (!matcher.matches()) {
      return null;
    }
    String host = matcher.group(1); // empty or unknown: the same as that of the server asked
    return new Place(
        host.isEmpty() || host.equals("?") ? asked.host() : host,
        Integer.parseInt(matcher.group(2)));
  }
}
