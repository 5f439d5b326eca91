package dev.lukko.spring.locked;

import java.time.Duration;

/**
 * What holds for each {@link dev.lukko.annotation.Locked} that does not say otherwise.
 *
 * @param ttl the ttl
 * @param selfInvocation what to do about an object that calls its own locked method
 */
public record LockedDefaults(Duration ttl, SelfInvocation selfInvocation) {}
