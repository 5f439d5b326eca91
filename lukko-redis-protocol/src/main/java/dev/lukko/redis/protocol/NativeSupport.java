package dev.lukko.redis.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which commands that compare first a server has, by its version.
 *
 * <p>Redis has both since 8.4; Valkey has the one that sets since 8.1, and one that deletes since
 * 9.0, to which 9.2 adds the name that Redis gave it. The version is asked for rather than the
 * commands, since the least rights do not include a look at these; a server that turns out to lack
 * one costs a round trip.
 *
 * @param delete the command that deletes a key if its value is a certain one, {@code DELEX} or
 *     {@code DELIFEQ}, or empty
 * @param set whether {@code SET} compares with {@code IFEQ}
 */
public record NativeSupport(String delete, boolean set) {
  public static final NativeSupport NONE = new NativeSupport("", false);
  public static final String DELEX = "DELEX";
  public static final String DELIFEQ = "DELIFEQ";

  private static final Pattern VERSION = Pattern.compile("(\\d{1,4})\\.(\\d{1,4}).*");

  /** What follows from the fields of the reply to INFO. */
  public static NativeSupport of(Map<String, String> info) {
    String valkey = info.get("valkey_version");
    if (valkey != null) {
      int version = version(valkey);
      return new NativeSupport(
          version >= 9_02 ? DELEX : version >= 9_00 ? DELIFEQ : "", version >= 8_01);
    }
    return version(info.getOrDefault("redis_version", "")) >= 8_04
        ? new NativeSupport(DELEX, true)
        : NONE;
  }

  private static int version(String text) {
    Matcher matcher = VERSION.matcher(text);
    return matcher.matches()
        ? Integer.parseInt(matcher.group(1)) * 100
            + Math.min(99, Integer.parseInt(matcher.group(2)))
        : 0;
  }

  /** The commands by name; none if all is done by scripts. */
  public List<String> names() {
    List<String> names = new ArrayList<>();
    if (!delete.isEmpty()) {
      names.add(delete);
    }
    if (set) {
      names.add("SET IFEQ");
    }
    return names;
  }
}
