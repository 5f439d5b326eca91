package dev.lukko.redis.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request as commands that the server has by itself, in place of a script.
 *
 * <p>Where it is right: the compared command alone decides, and what the script does besides can
 * follow unconditionally. A release of an entry that was granted publishes its hint in any case; a
 * hint too many does no harm. An extension keeps the counter in any case. All else is a script's:
 * see docs/internals/decisions.md.
 *
 * @param command the command that compares, with its arguments
 * @param after what follows it, whatever it finds
 */
public record NativeForm(List<String> command, List<String> after) {
  private static final int SHORT_EXTEND = 3;
  private static final int SHORT_RELEASE = 2;

  /** The native form of a call; null if it has none, or the server lacks the command. */
  public static @Nullable NativeForm of(ScriptCall call, NativeSupport support) {
    String[] keys = call.keys();
    String[] arguments = call.arguments("");
    if (call.script() == Script.EXTEND && arguments.length == SHORT_EXTEND && support.set()) {
      return new NativeForm(
          List.of("SET", keys[0], arguments[0], "IFEQ", arguments[0], "PX", arguments[1]),
          List.of("PEXPIRE", keys[1], arguments[2])); // a counter must not end during a hold
    }
    if (call.script() == Script.RELEASE
        && arguments.length == SHORT_RELEASE
        && call.expectsEntry()
        && !support.delete().isEmpty()) {
      return new NativeForm(
          support.delete().equals(NativeSupport.DELEX)
              ? List.of(NativeSupport.DELEX, keys[0], "IFEQ", arguments[0])
              : List.of(NativeSupport.DELIFEQ, keys[0], arguments[0]),
          List.of("PUBLISH", arguments[1], keys[0]));
    }
    return null;
  }

  /**
   * What the script would have returned.
   *
   * @return null if only the script can say it: an extension must tell who is in its way
   */
  @Nullable List<Object> asScript(List<Object> reply) {
    Object first = reply.get(0);
    if (command.get(0).equals("SET")) {
      return first.equals("OK") ? List.of(1L) : null;
    }
    return first instanceof Long ? reply : null;
  }

  /**
   * Whether the answer depends on what followed: a release that has deleted its entry tells how
   * many have heard of it. Until that is known, its outcome is open.
   */
  boolean isIncomplete(List<Object> answer) {
    return !command.get(0).equals("SET") && answer.equals(List.of(1L));
  }

  /**
   * The whole answer.
   *
   * @param heard the reply to what followed; empty if it was refused, as without the right to
   *     publish
   */
  List<Object> complete(List<Object> answer, List<Object> heard) {
    return heard.isEmpty() || !(heard.get(0) instanceof Long count) ? answer : List.of(1L + count);
  }

  /** Whether a refusal means that the server or its user lacks the command, now and later on. */
  static boolean isLacking(String error) {
    return error.startsWith("ERR unknown command")
        || error.startsWith("ERR syntax error")
        || error.startsWith("ERR wrong number of arguments")
        || error.startsWith("NOPERM");
  }

  /** What is left when the server turned out to lack this command. */
  NativeSupport without(NativeSupport support) {
    return command.get(0).equals("SET")
        ? new NativeSupport(support.delete(), false)
        : new NativeSupport("", support.set());
  }
}
