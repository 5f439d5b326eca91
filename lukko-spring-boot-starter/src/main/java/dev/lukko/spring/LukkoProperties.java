package dev.lukko.spring;

import dev.lukko.spring.locked.SelfInvocation;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of an application's locks.
 *
 * @param nodes Addresses of the lock's nodes, such as redis://host:6379 or
 *     jdbc:postgresql://host/db; three or more independent ones are a quorum. Without any, the
 *     application's Redis connection or data source is used.
 * @param fleet Name of the fleet that the nodes form, the same for all its clients. Needed only if
 *     a node belongs to several fleets.
 * @param keyFormat How keys are named on Redis; the same for all clients of a lock.
 * @param ttl How long a lock by annotation outlives a process that died.
 * @param maxTtl Longest ttl that any client of the nodes asks for.
 * @param driftFactor How far the rates of the clocks may differ, as a fraction of the ttl.
 * @param driftBuffer Fixed part of the drift.
 * @param strict Whether safety goes before availability in doubt.
 * @param createSchema Whether tables that are missing in SQL databases are created.
 * @param selfInvocation What to do about an object that calls its own locked method, which takes no
 *     lock.
 */
@ConfigurationProperties("lukko")
public record LukkoProperties(
    @DefaultValue List<String> nodes,
    @Nullable String fleet,
    @DefaultValue("prefixed") KeyFormat keyFormat,
    @DefaultValue("30s") Duration ttl,
    @DefaultValue("5m") Duration maxTtl,
    @DefaultValue("0.01") double driftFactor,
    @DefaultValue("2ms") Duration driftBuffer,
    @DefaultValue("false") boolean strict,
    @DefaultValue("false") boolean createSchema,
    @DefaultValue("fail") SelfInvocation selfInvocation) {

  /** How keys are named on Redis. */
  public enum KeyFormat {
    /** Behind {@code lukko:}. */
    PREFIXED,
    /** As the lock itself is named, as libraries in other languages do. */
    PLAIN
  }
}
