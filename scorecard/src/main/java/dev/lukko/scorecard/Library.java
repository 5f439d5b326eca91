package dev.lukko.scorecard;

import java.util.List;
import java.util.stream.Stream;

/** A library in one of the ways in which it can be used. */
enum Library {
  LUKKO_1(
      "Lukko, 1 server",
      "lukko",
      1,
      "lukko",
      "`Redlock` over one `RedisNode`, ttl and `maxTtl` 2 s, `autoExtend(true)`; else defaults"),
  LUKKO_5("Lukko, 5 servers", "lukko", 5, "lukko", "the same over five nodes"),
  REDISSON(
      "Redisson RLock, 1 server",
      "redisson",
      1,
      "redisson",
      "`getLock`, no lease time, so that the watchdog extends it; `lockWatchdogTimeout` 2 s instead"
          + " of 30 s; else defaults"),
  REDISSON_FENCED(
      "Redisson RFencedLock, 1 server",
      "redisson-fenced",
      1,
      "redisson",
      "`getFencedLock`, else the same"),
  REDISSON_REDLOCK(
      "Redisson RedissonRedLock, 5 servers",
      "redisson-redlock",
      5,
      "redisson",
      "over `getLock` of five clients, else the same; deprecated by its authors"),
  SHEDLOCK_REDIS(
      "ShedLock Redis, 1 server",
      "shedlock-redis",
      1,
      "shedlock",
      "`RedisLockProvider` over `LettuceConnectionFactory` with its defaults (command timeout 60"
          + " s), `lockAtMostFor` 2 s; without `KeepAliveLockProvider`, which asks for 30 s at"
          + " least"),
  SHEDLOCK_JDBC(
      "ShedLock JDBC, PostgreSQL",
      "shedlock-jdbc",
      1,
      "shedlock",
      "`JdbcTemplateLockProvider`, `usingDbTime()`, `withLockedByValue` as on two hosts,"
          + " `lockAtMostFor` 2 s, HikariCP with its defaults (connection timeout 30 s)"),
  SPRING_INTEGRATION(
      "Spring Integration, 1 server",
      "spring-integration",
      1,
      "spring-integration",
      "`RedisLockRegistry` over `LettuceConnectionFactory` with its defaults (command timeout 60"
          + " s), expiry 2 s instead of 60 s, with a renewal scheduler; else defaults"),
  NODE_REDLOCK(
      "node-redlock, 5 servers",
      "node-redlock",
      5,
      "node-redlock",
      "`using` of `redlock` on `ioredis`, duration 2 s, `retryCount` 0 since a row tries once; else"
          + " defaults");

  private final String title;
  private final String client;
  private final int servers;
  private final String versionKey;
  private final String configuration;

  Library(String title, String client, int servers, String versionKey, String configuration) {
    this.title = title;
    this.client = client;
    this.servers = servers;
    this.versionKey = versionKey;
    this.configuration = configuration;
  }

  String title() {
    return title;
  }

  /** The word for the client process; also on the command line, with the number of servers. */
  String client() {
    return client;
  }

  String key() {
    return this == LUKKO_1 || this == LUKKO_5 ? client + "-" + servers : client;
  }

  int servers() {
    return servers;
  }

  String versionKey() {
    return versionKey;
  }

  String configuration() {
    return configuration;
  }

  /** Whether a lock that is held goes on beyond its ttl. */
  boolean extendsLocks() {
    return this != SHEDLOCK_REDIS && this != SHEDLOCK_JDBC;
  }

  boolean isSql() {
    return this == SHEDLOCK_JDBC;
  }

  boolean isNode() {
    return this == NODE_REDLOCK;
  }

  static List<String> keys() {
    return Stream.of(values()).map(Library::key).toList();
  }
}
