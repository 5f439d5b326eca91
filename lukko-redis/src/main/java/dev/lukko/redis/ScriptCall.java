package dev.lukko.redis;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One request: a script with its keys and arguments, on its way to a server.
 *
 * <p>A server that does not know the script asks for its text, so a request may go out a second
 * time, after other requests. A grant must not do so once the release of its owner is on its way:
 * it would be applied behind it, and its entry would stay. Hence a call can be withdrawn.
 */
final class ScriptCall {
  /** Which argument is for the run of the server, where the script looks at the marker. */
  private static final int RUN = 3;

  private final Script script;
  private final String owner;
  private final String[] keys;
  private final String[] arguments;
  private final @Nullable String marker;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean withdrawn;

  /** A request that needs no marker. */
  ScriptCall(Script script, String owner, String[] keys, String... arguments) {
    this(script, owner, null, keys, arguments);
  }

  /**
   * A request.
   *
   * @param marker the key of the marker, or null. If there is one, the argument {@link #RUN} is for
   *     the run of the server, which only the connection knows
   */
  ScriptCall(
      Script script, String owner, @Nullable String marker, String[] keys, String... arguments) {
    this.script = script;
    this.owner = owner;
    this.keys = keys;
    this.arguments = arguments;
    this.marker = marker;
  }

  Script script() {
    return script;
  }

  String owner() {
    return owner;
  }

  String[] keys() {
    return keys;
  }

  /**
   * What goes to a server.
   *
   * @param run the run of the server, or empty if it has no marker
   */
  String[] keys(String run) {
    if (marker == null || run.isEmpty()) {
      return keys;
    }
    String[] all = Arrays.copyOf(keys, keys.length + 1);
    all[keys.length] = marker;
    return all;
  }

  /**
   * What goes to a server.
   *
   * @param run the run of the server, or empty if it has no marker
   */
  String[] arguments(String run) {
    if (marker == null) {
      return arguments;
    }
    String[] all = arguments.clone();
    all[RUN] = run;
    return all;
  }

  /** From now on the request is not sent another time. Returns when no sending is under way. */
  void withdraw() {
    lock.lock();
    try {
      withdrawn = true;
    } finally {
      lock.unlock();
    }
  }

  /** Sends unless the call was withdrawn; says whether it has sent. */
  boolean sendUnlessWithdrawn(Runnable send) {
    lock.lock();
    try {
      if (!withdrawn) {
        send.run();
      }
      return !withdrawn;
    } finally {
      lock.unlock();
    }
  }
}
