package dev.lukko.redis.protocol;

import dev.lukko.spi.NodeStatus.State;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a server's marker says: whether the present run of the server may vote. The scripts {@code
 * marker.lua} and {@code admit.lua} read and write the same text.
 *
 * @param state voting, quarantined, restarted or unmarked
 * @param remaining how long the quarantine lasts yet; zero unless quarantined
 * @param why what the server was when the marker was written: {@code restarted} or {@code
 *     unmarked}; {@code voting} once there is nothing to wait for
 */
record Marker(State state, Duration remaining, String why) {
  static final String RESTARTED = "restarted";
  static final String UNMARKED = "unmarked";

  private static final Pattern FORM = Pattern.compile("([A-Za-z0-9]+) (\\d{1,16}) ([A-Za-z0-9]+)");

  /**
   * Reads a marker.
   *
   * @param text what is stored, empty if nothing is
   * @param run the present run of the server
   * @param nowMillis the server's time
   */
  static Marker read(String text, String run, long nowMillis) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return new Marker(State.UNMARKED, Duration.ZERO, "");
    }
    String why = matcher.group(3);
    if (!matcher.group(1).equals(run)) {
      return new Marker(State.RESTARTED, Duration.ZERO, why);
    }
    long left = Long.parseLong(matcher.group(2)) - nowMillis;
    return left > 0
        ? new Marker(State.QUARANTINED, Duration.ofMillis(left), why)
        : new Marker(State.VOTING, Duration.ZERO, why);
  }

  /** The marker of a run that has nothing to wait for. */
  static String voting(String run) {
    return run + " 0 voting";
  }

  /** Whether a text is the marker of a certain run. */
  static boolean isOfRun(String text, String run) {
    Matcher matcher = FORM.matcher(text);
    return matcher.matches() && matcher.group(1).equals(run);
  }
}
