package dev.lukko.redis;

import dev.lukko.redis.format.RedisKeyFormat;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The least rights with which a user of a server's access control list can serve as a node. */
public final class RedisRights {
  private static final List<String> COMMANDS =
      List.of(
          // asked for directly
          "info",
          "time",
          "hgetall",
          "eval",
          "evalsha",
          "subscribe",
          "unsubscribe",
          // inside the scripts
          "get",
          "set",
          "del",
          "exists",
          "type",
          "pttl",
          "pexpire",
          "pexpireat",
          "hset",
          "hget",
          "hdel",
          "publish");

  private RedisRights() {}

  /** The commands that are needed, in lower case; each of them is. */
  public static List<String> commands() {
    return COMMANDS;
  }

  /**
   * The patterns of the keys and channels that are needed.
   *
   * @param format how keys are named; for {@link RedisKeyFormat#PLAIN} the names of the resources
   *     themselves are needed as keys besides
   */
  public static String pattern(RedisKeyFormat format) {
    // A question mark stands for the control character, which nobody can type.
    return format == RedisKeyFormat.PLAIN ? "lukko?:*" : "lukko:*";
  }

  /**
   * The line that makes such a user, complete but for the password.
   *
   * @param user the name of the user
   * @param resources patterns of the names of resources; used with {@link RedisKeyFormat#PLAIN}
   *     only
   */
  public static String aclSetUser(
      String user, RedisKeyFormat format, Collection<String> resources) {
    List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", user, "reset", "on"));
    words.add(">PASSWORD");
    words.add("~" + pattern(format));
    if (format == RedisKeyFormat.PLAIN) {
      resources.forEach(resource -> words.add("~" + resource));
    }
    words.add("&" + pattern(format));
    COMMANDS.forEach(command -> words.add("+" + command));
    return String.join(" ", words);
  }
}
