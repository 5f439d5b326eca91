package dev.lukko.redis.protocol;

import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.spi.Failed;
import dev.lukko.text.Printable;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a server tells of itself.
 *
 * @param run tells this run of this server from every other; random, made at each start
 * @param uptimeSeconds for how long it has run
 * @param startedAt when it was started, by this machine's clock, to the second
 * @param unfit why it must never vote, or empty
 * @param master the server that it gets its data from, or null if it is none's replica
 * @param clusterMember whether it belongs to a cluster
 * @param forgetful whether a restart loses everything
 * @param warnings what makes it less safe than it could be
 * @param note a milder remark, or empty
 */
record ServerFacts(
    String run,
    long uptimeSeconds,
    Instant startedAt,
    String unfit,
    @Nullable Place master,
    boolean clusterMember,
    boolean forgetful,
    List<String> warnings,
    String note) {
  private static final String AFTER_RESTART =
      "; as one of several nodes it is quarantined after every restart, as the only one it votes at"
          + " once, unless its clients are strict";

  /**
   * Reads the reply to INFO.
   *
   * @param save the setting for snapshots, or null if the server does not tell
   * @param appendfsync the setting for the append-only file, or null if the server does not tell
   * @throws NodeFaultException if something without which nothing can be judged is missing
   */
  static ServerFacts of(
      String info, @Nullable String save, @Nullable String appendfsync, Instant now) {
    Map<String, String> fields = new HashMap<>();
    for (String line : info.split("\r?\n", -1)) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        fields.put(line.substring(0, colon), Printable.of(line.substring(colon + 1)));
      }
    }
    String run = required(fields, "run_id", "[A-Za-z0-9]{1,100}");
    long uptime = Long.parseLong(required(fields, "uptime_in_seconds", "[0-9]{1,10}"));
    boolean appends = "1".equals(fields.get("aof_enabled"));
    return new ServerFacts(
        run,
        uptime,
        now.minusSeconds(uptime).truncatedTo(ChronoUnit.SECONDS),
        unfit(fields),
        master(fields),
        "1".equals(fields.get("cluster_enabled")),
        !appends && save != null && save.isBlank(),
        warnings(fields),
        note(appends, save, appendfsync == null ? null : Printable.of(appendfsync)));
  }

  private static String required(Map<String, String> fields, String field, String form) {
    String value = fields.get(field);
    if (value == null || value.isEmpty()) {
      throw new NodeFaultException(new Failed("INFO: the server does not tell its " + field));
    }
    if (!value.matches(form)) {
      throw new NodeFaultException(
          new Failed("INFO: the server's " + field + " is " + value + ", which cannot be"));
    }
    return value;
  }

  private static String unfit(Map<String, String> fields) {
    if ("sentinel".equals(fields.get("redis_mode"))) {
      return "it is a Sentinel, which stores nothing";
    }
    if (!"master".equals(required(fields, "role", ".*"))) {
      return "it is a replica of "
          + fields.getOrDefault("master_host", "?")
          + ":"
          + fields.getOrDefault("master_port", "?")
          + ", and gets its data late and from elsewhere";
    }
    return "";
  }

  private static @Nullable Place master(Map<String, String> fields) {
    String host = fields.getOrDefault("master_host", "");
    String port = fields.getOrDefault("master_port", "");
    return !host.matches("[A-Za-z0-9._:\\[\\]-]+") || !port.matches("\\d{1,5}")
        ? null
        : new Place(host, Integer.parseInt(port));
  }

  private static List<String> warnings(Map<String, String> fields) {
    List<String> warnings = new ArrayList<>();
    String policy = fields.getOrDefault("maxmemory_policy", "noeviction");
    if (!policy.equals("noeviction")) {
      warnings.add(
          "its maxmemory-policy is "
              + policy
              + ("0".equals(fields.get("maxmemory"))
                  ? ": as soon as maxmemory is set, it may drop locks that are held"
                  : ": when its memory is full, it drops locks that are held")
              + "; it must be noeviction");
    }
    if ("1".equals(fields.get("cluster_enabled"))) {
      warnings.add(
          "it belongs to a cluster: a failover promotes a replica that may lack the latest locks,"
              + " and two may then hold the same lock; a quorum of independent servers has no such"
              + " gap, and a fence refuses the stale holder");
    }
    return warnings;
  }

  private static String note(boolean appends, @Nullable String save, @Nullable String appendfsync) {
    if (appends) {
      return appendfsync == null || appendfsync.equals("always")
          ? ""
          : "its appendfsync is "
              + appendfsync
              + ": a crash of its machine loses the latest locks"
              + AFTER_RESTART;
    }
    if (save == null) {
      return "it has no append-only file, and does not tell whether it makes snapshots: a restart"
          + " loses the latest locks, or all";
    }
    return save.isBlank()
        ? "it persists nothing (neither append-only file nor snapshots): a restart loses all locks"
            + " and counters"
            + AFTER_RESTART
        : "it persists by snapshots only: a restart loses the latest locks and counters"
            + AFTER_RESTART;
  }
}
