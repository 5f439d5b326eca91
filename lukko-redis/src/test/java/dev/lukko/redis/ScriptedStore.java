package dev.lukko.redis;

import dev.lukko.redis.protocol.Script;
import dev.lukko.spi.FleetRecord;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.redis.ArrayRedisMessage;
import io.netty.handler.codec.redis.ErrorRedisMessage;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.IntegerRedisMessage;
import io.netty.handler.codec.redis.RedisMessage;
import io.netty.handler.codec.redis.SimpleStringRedisMessage;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** What a {@link ScriptedServer} stores and answers. Used by its one thread only. */
final class ScriptedStore {
  private static final String RUN = "5c21b7ed00000000000000000000000000000000";

  /** Versions as they present themselves. */
  enum Version {
    REDIS_7_4("redis_version:7.4.2"),
    REDIS_8_4("redis_version:8.4.0"),
    VALKEY_8_0("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.2"),
    VALKEY_9_2("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.2.0");

    private final String info;

    Version(String info) {
      this.info = info;
    }
  }

  /** What each script is known by; its text may come instead. */
  private static final Map<String, Script> SCRIPTS =
      Stream.of(Script.values())
          .collect(
              HashMap::new,
              (map, script) -> {
                map.put(script.digest(), script);
                map.put(script.text(), script);
              },
              Map::putAll);

  private final Version version;
  final Map<String, String> values = new HashMap<>();
  final Map<String, Long> ttls = new HashMap<>();

  ScriptedStore(Version version) {
    this.version = version;
  }

  /** How a test sees a request; empty if it is not about a lock. */
  static String name(List<String> words) {
    String command = words.get(0).toUpperCase(Locale.ROOT);
    return switch (command) {
      case "EVALSHA", "EVAL" -> {
        Script script = SCRIPTS.get(words.get(1));
        yield script == null || script == Script.ADMIT
            ? ""
            : script.name().toLowerCase(Locale.ROOT);
      }
      case "SET", "DELEX", "DELIFEQ", "PEXPIRE", "PUBLISH" -> command;
      default -> "";
    };
  }

  RedisMessage run(List<String> words) {
    String command = words.get(0).toUpperCase(Locale.ROOT);
    return switch (command) {
      case "INFO" ->
          bulk(
              version.info
                  + "\r\nredis_mode:standalone\r\nrun_id:"
                  + RUN
                  + "\r\nuptime_in_seconds:60\r\nrole:master\r\ncluster_enabled:0\r\naof_enabled:1");
      case "CONFIG" -> new ArrayRedisMessage(List.of());
      case "TIME" -> new ArrayRedisMessage(List.of(bulk("1700000000"), bulk("0")));
      case "PING" -> new SimpleStringRedisMessage("PONG");
      case "CLIENT" -> new SimpleStringRedisMessage("OK");
      case "GET" -> bulk(values.get(words.get(1)));
      case "HGETALL" -> records();
      case "SUBSCRIBE" ->
          new ArrayRedisMessage(
              List.of(bulk("subscribe"), bulk(words.get(1)), new IntegerRedisMessage(1)));
      case "EVALSHA", "EVAL" -> script(SCRIPTS.get(words.get(1)), words);
      default -> unknown(words.get(0));
    };
  }

  /** That of a server of a fleet for tests, which votes. */
  private static RedisMessage records() {
    String run = RUN.substring(0, 12);
    FleetRecord record =
        new FleetRecord("alone", 1, 0, List.of(run), run, run, 0, FleetRecord.VOTING);
    return new ArrayRedisMessage(List.of(bulk(record.key()), bulk(record.text())));
  }

  /** The short forms of the scripts, as their files describe them. */
  private RedisMessage script(Script script, List<String> words) {
    int keys = Integer.parseInt(words.get(2));
    String entry = words.get(3);
    String owner = words.get(3 + keys);
    String holder = values.get(entry);
    switch (script) {
      case GRANT -> {
        if (holder != null && !holder.equals(owner)) {
          return refusal(0, holder);
        }
        values.put(entry, owner);
        return bulk(words.get(3 + keys + 3));
      }
      case EXTEND -> {
        if (holder != null && !holder.equals(owner)) {
          return refusal(2, holder);
        }
        ttls.put(entry, Long.parseLong(words.get(3 + keys + 1)));
        return new IntegerRedisMessage(holder == null ? 0 : 1);
      }
      case RELEASE -> {
        return new IntegerRedisMessage(values.remove(entry, owner) ? 1 : 0);
      }
      default -> {
        return new ErrorRedisMessage("ERR not scripted: " + script);
      }
    }
  }

  private static RedisMessage refusal(long code, String holder) {
    return new ArrayRedisMessage(
        List.of(
            new IntegerRedisMessage(code),
            new IntegerRedisMessage(0),
            new IntegerRedisMessage(1),
            bulk("exclusive"),
            bulk(holder),
            new IntegerRedisMessage(1_000)));
  }

  static RedisMessage unknown(String command) {
    return new ErrorRedisMessage(
        "ERR unknown command '" + command + "', with args beginning with: ");
  }

  static RedisMessage bulk(String text) {
    return text == null
        ? FullBulkStringRedisMessage.NULL_INSTANCE
        : new FullBulkStringRedisMessage(Unpooled.copiedBuffer(text, StandardCharsets.UTF_8));
  }
}
