package dev.lukko.redis;

import dev.lukko.Lease;
import dev.lukko.fencing.Fence;
import dev.lukko.fencing.FenceArguments;
import dev.lukko.fencing.StaleTokenException;
import dev.lukko.redis.format.HashSlots;
import io.lettuce.core.api.sync.RedisScriptingCommands;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A fence for values that live in Redis or Valkey: the check and the write are one script.
 *
 * <pre>{@code
 * RedisFence fence = RedisFence.over(connection.sync());
 * fence.set("report:2026", text, lease.fencingToken());
 * }</pre>
 *
 * <p>The highest token of a resource is kept beside its value, at {@link #fenceKey}, in the same
 * slot of a cluster; the value itself is a plain string under its own key. For anything but strings
 * put {@link #snippet} in front of a script of your own. {@link #check} alone guards what is
 * written elsewhere, with the gap between check and write that this has.
 *
 * <p>Tokens are exact below 2^53; a higher one is refused before any I/O. A fence is forgotten
 * after a retention since its last contact, by default 7 days. It is as durable as the server: one
 * that loses its data, or fails over to a replica that lags behind, forgets tokens too.
 *
 * <p>The connection is the caller's, with its timeouts; its exceptions pass unchanged. When it
 * repeats a command after a reconnect the outcome is the same, except on a strict fence: there the
 * repetition of an accepted write is refused.
 *
 * <p>Immutable, and thread-safe as the commands of Lettuce are.
 */
public final class RedisFence implements Fence {
  /** The highest token that Redis' scripts can compare exactly: 2^53 - 1. */
  public static final long MAX_TOKEN = (1L << 53) - 1;

  private static final String SNIPPET = "fence.lua";
  private static final ResourceScript CHECK = new ResourceScript(SNIPPET, "fence-check.lua");
  private static final ResourceScript SET = new ResourceScript(SNIPPET, "fence-set.lua");
  private static final ResourceScript GET = new ResourceScript(SNIPPET, "fence-get.lua");
  private static final ResourceScript DELETE = new ResourceScript(SNIPPET, "fence-delete.lua");
  private static final String READ = "read";

  private final RedisScriptingCommands<String, String> commands;
  private final String write;
  private final String retentionMillis;

  private RedisFence(
      RedisScriptingCommands<String, String> commands, String write, String retentionMillis) {
    this.commands = commands;
    this.write = write;
    this.retentionMillis = retentionMillis;
  }

  /**
   * A fence that lets a holder write several times.
   *
   * @param commands {@code connection.sync()} of one server or of a cluster
   */
  public static RedisFence over(RedisScriptingCommands<String, String> commands) {
    return new RedisFence(commands, "write", Long.toString(Duration.ofDays(7).toMillis()));
  }

  /** The same, accepting each token for one write only. */
  public RedisFence strict() {
    return new RedisFence(commands, "once", retentionMillis);
  }

  /** The same with another retention: 1 s to 3650 days. */
  public RedisFence retention(Duration retention) {
    return new RedisFence(
        commands, write, Long.toString(RedisRanges.retentionMillis("retention", retention)));
  }

  @Override
  public void check(String resource, long token) {
    run(CHECK, resource, token, write, fenceKey(resource));
  }

  @Override
  public void touch(String resource, long token) {
    run(CHECK, resource, token, READ, fenceKey(resource));
  }

  /**
   * Writes a value under the fence of its key. A time to live that the value had is dropped.
   *
   * @param key the value's key; it is the name of the resource as well
   * @throws StaleTokenException if the token is refused; nothing was written
   */
  public void set(String key, String value, long token) {
    run(SET, key, token, write, fenceKey(key), key, value);
  }

  /** {@link #set(String, String, long)} with the token of a lease. */
  public void set(String key, String value, Lease lease) {
    set(key, value, lease.fencingToken());
  }

  /**
   * Reads a value, and so raises the fence: what an older holder writes later is refused.
   *
   * @return the value, or empty if there is none
   * @throws StaleTokenException if the fence has seen a higher token
   */
  public Optional<String> get(String key, long token) {
    return Optional.ofNullable((String) run(GET, key, token, READ, fenceKey(key), key));
  }

  /**
   * Deletes a value under the fence of its key; the fence stays.
   *
   * @return whether there was a value
   * @throws StaleTokenException if the token is refused; nothing was deleted
   */
  public boolean delete(String key, long token) {
    return Long.valueOf(1).equals(run(DELETE, key, token, write, fenceKey(key), key));
  }

  /**
   * Where the fence of a resource is kept. It belongs to the same slot of a cluster as a key that
   * is named like the resource.
   */
  public static String fenceKey(String resource) {
    FenceArguments.resource(resource);
    return "lukko:fence:{" + HashSlots.tagFor(resource) + "}:" + resource;
  }

  /**
   * The Lua function {@code lukko_fence(key, token, contact, retention)}, to be put in front of a
   * script of your own; its first lines say what it takes and gives.
   */
  public static String snippet() {
    return ResourceScript.read(SNIPPET);
  }

  /** Runs a script on the fence and, if there is one, on the value; says what it says besides. */
  private @Nullable Object run(
      ResourceScript script, String resource, long token, String contact, String... rest) {
    FenceArguments.token(token, MAX_TOKEN);
    String[] keys = rest.length == 1 ? rest : new String[] {rest[0], rest[1]};
    String[] arguments =
        rest.length == 3
            ? new String[] {Long.toString(token), contact, retentionMillis, rest[2]}
            : new String[] {Long.toString(token), contact, retentionMillis};
    List<@Nullable Object> reply = script.list(commands, keys, arguments);
    Object detail = reply.size() > 1 ? reply.get(1) : null;
    if (Long.valueOf(0).equals(reply.get(0)) && detail instanceof Long highest) {
      throw new StaleTokenException(resource, token, highest);
    }
    return detail;
  }
}
