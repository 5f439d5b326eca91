package dev.lukko.redis.protocol;

import dev.lukko.release.CreatingRequest;
import dev.lukko.release.OpenEntry;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One request: a script with its keys and arguments, on its way to a server.
 *
 * <p>A server that does not know the script asks for its text, so a request may go out a second
 * time, after other requests. A grant must not do so once the release of its owner is on its way:
 * it would be applied behind it, and its entry would stay. Hence a call can be withdrawn.
 */
public final class ScriptCall implements CreatingRequest {
  private final Script script;
  private final String owner;
  private final String[] keys;
  private final String[] arguments;
  private final @Nullable String directory;
  private final int filled;
  private final UnaryOperator<String> filling;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean withdrawn;
  private @Nullable OpenEntry open;
  private volatile @Nullable Wire sentOn;
  private volatile boolean answered;

  /** A request that needs no record. */
  public ScriptCall(Script script, String owner, String[] keys, String... arguments) {
    this(script, owner, null, 0, run -> run, keys, arguments);
  }

  private ScriptCall(
      Script script,
      String owner,
      @Nullable String directory,
      int filled,
      UnaryOperator<String> filling,
      String[] keys,
      String[] arguments) {
    this.script = script;
    this.owner = owner;
    this.directory = directory;
    this.filled = filled;
    this.filling = filling;
    this.keys = keys;
    this.arguments = arguments;
  }

  /**
   * A request of which the script compares the server's record with what was seen, if the server
   * keeps records.
   *
   * @param directory the key of the records
   * @param filled which argument says what the record must be; it depends on the run of the server,
   *     which only the connection knows
   * @param filling makes the argument of the id of the run
   */
  public static ScriptCall onRecord(
      Script script,
      String owner,
      String directory,
      int filled,
      UnaryOperator<String> filling,
      String[] keys,
      String... arguments) {
    return new ScriptCall(script, owner, directory, filled, filling, keys, arguments);
  }

  /** The same release, of an entry that may be at the server. */
  ScriptCall releasing(@Nullable OpenEntry entry) {
    open = entry;
    return this;
  }

  /** What a release is about; null if nothing of it can be at the server. */
  @Nullable OpenEntry open() {
    return open;
  }

  /** It is about to be sent, perhaps after another server has sent it on. */
  void sentOn(Wire wire) {
    answered = false;
    sentOn = wire;
  }

  /** The server has dealt with it, or will never see it. */
  void answered() {
    answered = true;
  }

  @Override
  public boolean isAnswered() {
    return answered;
  }

  @Override
  public boolean mayFollow(Object connection) {
    Wire on = sentOn;
    return on != null && on != connection && !answered;
  }

  public Script script() {
    return script;
  }

  public String owner() {
    return owner;
  }

  public String[] keys() {
    return keys;
  }

  /**
   * What goes to a server.
   *
   * @param run the id of the run of the server, or empty if it keeps no records
   */
  public String[] keys(String run) {
    if (directory == null || run.isEmpty()) {
      return keys;
    }
    String[] all = Arrays.copyOf(keys, keys.length + 1);
    all[keys.length] = directory;
    return all;
  }

  /**
   * What goes to a server.
   *
   * @param run the id of the run of the server, or empty if it keeps no records
   */
  public String[] arguments(String run) {
    if (directory == null || run.isEmpty()) {
      return arguments;
    }
    String[] all = arguments.clone();
    all[filled] = filling.apply(run);
    return all;
  }

  /** {@inheritDoc} Returns when no sending is under way. */
  @Override
  public void withdraw() {
    lock.lock();
    try {
      withdrawn = true;
    } finally {
      lock.unlock();
    }
  }

  /** Sends unless the call was withdrawn; says whether it has sent. */
  public boolean sendUnlessWithdrawn(Runnable send) {
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
