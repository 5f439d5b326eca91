/**
 * The wire of lock nodes on Redis, whatever the driver: scripts and their replies, the judgement of
 * servers, the way of requests, addresses. Not for applications.
 */
@NullMarked
package dev.lukko.redis.protocol;

import org.jspecify.annotations.NullMarked;
