/** Lock nodes on Redis and Valkey through the driver Jedis. */
@NullMarked
package dev.lukko.jedis;

import org.jspecify.annotations.NullMarked;
