package dev.lukko.redis;

import dev.lukko.Lease;
import dev.lukko.fencing.RequestFingerprint;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;

/** Code of the guides on fencing and on idempotency keys, here to be compiled. */
final class FencingSnippets {

  void value(StatefulRedisConnection<String, String> connection, Lease lease, String text) {
    // begin redis
    RedisFence fence = RedisFence.over(connection.sync());
    fence.set("report:2026", text, lease.fencingToken());
    // end redis
  }

  void ownScript(StatefulRedisConnection<String, String> connection, Lease lease) {
    // begin redis-script
    String script =
        RedisFence.snippet()
            + """
            local highest = lukko_fence(KEYS[1], ARGV[1], 'write', 604800000)
            if highest then
              return redis.error_reply('STALE ' .. ARGV[1] .. ', seen ' .. highest)
            end
            return redis.call('HINCRBY', KEYS[2], 'balance', ARGV[2])
            """;
    String[] keys = {RedisFence.fenceKey("account:7"), "account:7"};
    String token = Long.toString(lease.fencingToken());
    connection.sync().eval(script, ScriptOutputType.INTEGER, keys, token, "-100");
    // end redis-script
  }

  String once(StatefulRedisConnection<String, String> connection, String key, String body)
      throws Exception {
    // begin redis-once
    RedisIdempotencyKeys keys =
        RedisIdempotencyKeys.over(connection.sync()).claimTtl(Duration.ofMinutes(5));
    return keys.runOnce(key, RequestFingerprint.of(body), () -> send(body));
    // end redis-once
  }

  private static String send(String body) {
    return "sent: " + body;
  }
}
