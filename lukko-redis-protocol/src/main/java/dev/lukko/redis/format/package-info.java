/** How keys are named at a Redis server. */
@NullMarked
package dev.lukko.redis.format;

import org.jspecify.annotations.NullMarked;
