/**
 * Idempotency keys in stores that take no part in the transaction of the work: the claims, without
 * the store. Open to Lukko's own modules only.
 */
@NullMarked
package dev.lukko.once;

import org.jspecify.annotations.NullMarked;
