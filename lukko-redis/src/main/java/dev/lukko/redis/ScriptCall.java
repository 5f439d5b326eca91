package dev.lukko.redis;

import java.util.concurrent.locks.ReentrantLock;

/**
 * One request: a script with its keys and arguments, on its way to a server.
 *
 * <p>A server that does not know the script asks for its text, so a request may go out a second
 * time, after other requests. A grant must not do so once the release of its owner is on its way:
 * it would be applied behind it, and its entry would stay. Hence a call can be withdrawn.
 */
final class ScriptCall {
  private final Script script;
  private final String owner;
  private final String[] keys;
  private final String[] arguments;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean withdrawn;

  ScriptCall(Script script, String owner, String[] keys, String... arguments) {
    this.script = script;
    this.owner = owner;
    this.keys = keys;
    this.arguments = arguments;
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

  String[] arguments() {
    return arguments;
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
