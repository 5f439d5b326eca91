package dev.lukko.cli.doctor;

import dev.lukko.LockException;
import dev.lukko.redis.format.RedisKeyFormat;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one server has told.
 *
 * @param info the fields of INFO
 * @param save the setting for snapshots, or null if it is not told
 * @param appendfsync the setting for the append-only file, or null if it is not told
 */
record RedisAnswers(
    Map<String, String> info,
    @Nullable String save,
    @Nullable String appendfsync,
    Timing timing,
    Entries entries,
    Rights rights) {

  /**
   * Asks.
   *
   * @throws LockException if the server does not answer what cannot be done without
   */
  static RedisAnswers of(Questions questions, RedisKeyFormat format, Duration maxTtl) {
    Map<String, String> info = questions.info();
    Timing timing = Timing.of(questions);
    String save = questions.setting("save");
    String appendfsync = questions.setting("appendfsync");
    boolean writes = "master".equals(info.get("role")) && !"1".equals(info.get("cluster_enabled"));
    Entries entries = Entries.of(questions, format, maxTtl);
    Rights rights =
        writes ? Rights.of(questions, format) : new Rights(Rights.UNTOLD, List.of(), "");
    return new RedisAnswers(info, save, appendfsync, timing, entries, rights);
  }

  long number(String field) {
    String text = info.getOrDefault(field, "0");
    return text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
  }

  String text(String field) {
    return info.getOrDefault(field, "?");
  }

  boolean appends() {
    return "1".equals(info.get("aof_enabled"));
  }

  /** Redis or Valkey, with its version. */
  String product() {
    String valkey = info.get("valkey_version");
    return valkey == null ? "Redis " + text("redis_version") : "Valkey " + valkey;
  }
}
