package dev.lukko.redis;

import dev.lukko.fencing.FenceArguments;
import dev.lukko.fencing.KeyClaimLostException;
import dev.lukko.fencing.KeyInProgressException;
import dev.lukko.fencing.KeyReusedException;
import dev.lukko.fencing.RequestFingerprint;
import dev.lukko.once.Claim;
import dev.lukko.once.ClaimedWork;
import io.lettuce.core.api.sync.RedisScriptingCommands;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Requests that are normally run once, however often they are sent: a claim while the work is
 * running, then its result, are kept under the request's key in Redis or Valkey.
 *
 * <p><b>What this cannot do.</b> Redis takes no part in the transaction of the work. If the process
 * dies after the work and before the result is stored, or the work takes longer than {@link
 * #claimTtl}, the claim runs out and a repeat does the work again. So this keeps retries and double
 * clicks from doing work twice in the normal case; where twice is wrong in any case, keep the key
 * in the database of the work ({@code IdempotencyKeys} of the JDBC module), or let the work itself
 * tolerate it.
 *
 * <p>A call that fails takes its claim back. A repeat while the work is running asks again until
 * {@link #maxWait} is over. The same key for another request is refused.
 *
 * <p>The connection is the caller's, with its timeouts; its exceptions pass unchanged. Immutable
 * and thread-safe.
 */
public final class RedisIdempotencyKeys {
  private static final ResourceScript CLAIM = new ResourceScript("once-claim.lua");
  private static final ResourceScript COMPLETE = new ResourceScript("once-complete.lua");
  private static final ResourceScript ABANDON = new ResourceScript("once-abandon.lua");

  private final RedisScriptingCommands<String, String> commands;
  private final Duration claimTtl;
  private final Duration maxWait;
  private final Duration retention;

  private RedisIdempotencyKeys(
      RedisScriptingCommands<String, String> commands,
      Duration claimTtl,
      Duration maxWait,
      Duration retention) {
    this.commands = commands;
    this.claimTtl = claimTtl;
    this.maxWait = maxWait;
    this.retention = retention;
  }

  /**
   * Keys whose claims last 1 minute, whose repeats wait 10 s, and whose results are kept 7 days.
   *
   * @param commands {@code connection.sync()} of one server or of a cluster
   */
  public static RedisIdempotencyKeys over(RedisScriptingCommands<String, String> commands) {
    return new RedisIdempotencyKeys(
        commands, Duration.ofMinutes(1), Duration.ofSeconds(10), Duration.ofDays(7));
  }

  /** The same with claims of another length, more than the work ever takes: 10 ms to 1 day. */
  public RedisIdempotencyKeys claimTtl(Duration ttl) {
    RedisRanges.millis(
        "claimTtl", ttl, Duration.ofMillis(10), Duration.ofDays(1), "10 ms to 1 day");
    return new RedisIdempotencyKeys(commands, ttl, maxWait, retention);
  }

  /** The same with another wait of a repeat for the call that is running: 0 to 1 hour. */
  public RedisIdempotencyKeys maxWait(Duration wait) {
    RedisRanges.millis("maxWait", wait, Duration.ZERO, Duration.ofHours(1), "0 to 1 hour");
    return new RedisIdempotencyKeys(commands, claimTtl, wait, retention);
  }

  /** The same with another retention of the results: 1 s to 3650 days. */
  public RedisIdempotencyKeys retention(Duration time) {
    RedisRanges.retentionMillis("retention", time);
    return new RedisIdempotencyKeys(commands, claimTtl, maxWait, time);
  }

  /**
   * Runs the work, unless the key has a result.
   *
   * @param key names the request: 1 to 255 characters, no control characters
   * @return the result of the work, now or then
   * @throws KeyInProgressException if another call runs it and did not end within the wait, or this
   *     thread was interrupted while it waited (its flag is set)
   * @throws KeyReusedException if the key has been used for a request with another fingerprint
   * @throws KeyClaimLostException if the work was done and took longer than the claim
   * @throws Exception what the work threw
   */
  public @Nullable String runOnce(
      String key, RequestFingerprint request, Callable<@Nullable String> work) throws Exception {
    return new ClaimedWork(key, request, maxWait, new Entry(key, request)).run(work);
  }

  /** A key's hash. */
  private final class Entry implements ClaimedWork.Store {
    private final String[] keys;
    private final RequestFingerprint request;

    Entry(String key, RequestFingerprint request) {
      this.keys = new String[] {"lukko:once:" + FenceArguments.name("key", key)};
      this.request = request;
    }

    @Override
    public Claim claim(String owner) {
      List<@Nullable Object> reply =
          ResourceScript.answered(
              () ->
                  CLAIM.list(
                      commands, keys, owner, request.value(), Long.toString(claimTtl.toMillis())));
      if (reply.get(0).equals("claimed")) {
        return new Claim.Taken();
      }
      RequestFingerprint stored = new RequestFingerprint((String) reply.get(1));
      return reply.get(0).equals("done")
          ? new Claim.Done(stored, (String) reply.get(2))
          : new Claim.Running(stored, ((Number) reply.get(2)).longValue());
    }

    @Override
    public boolean complete(String owner, @Nullable String result) {
      String retentionMillis = Long.toString(retention.toMillis());
      return ResourceScript.answered(
              () ->
                  result == null
                      ? COMPLETE.number(commands, keys, owner, retentionMillis)
                      : COMPLETE.number(commands, keys, owner, retentionMillis, result))
          == 1;
    }

    @Override
    public void abandon(String owner) {
      var unused = ResourceScript.answered(() -> ABANDON.number(commands, keys, owner));
    }
  }
}
