/**
 * The resource side of a lock: fences that refuse a write whose fencing token is stale.
 *
 * <p>A lock alone cannot stop a holder that was paused beyond its ttl and then writes. A resource
 * that remembers the highest {@linkplain dev.lukko.Lease#fencingToken() token} it has seen can.
 * Start at {@link dev.lukko.fencing.Fence}; the forms for databases and Redis live with their
 * stores, and so do the idempotency keys, whose errors are here.
 */
@NullMarked
package dev.lukko.fencing;

import org.jspecify.annotations.NullMarked;
