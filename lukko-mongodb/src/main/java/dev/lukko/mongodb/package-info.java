/** Lock nodes, fence and idempotency keys on MongoDB. */
@NullMarked
package dev.lukko.mongodb;

import org.jspecify.annotations.NullMarked;
