/** Lock nodes and fence on Redis and Valkey. */
@NullMarked
package dev.lukko.redis;

import org.jspecify.annotations.NullMarked;
