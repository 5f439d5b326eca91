/**
 * The seam to a store: what one node must do, and what it may answer.
 *
 * <p>A store becomes a lock node by implementing {@link dev.lukko.spi.LockNode}: a handful of
 * atomic, conditional writes. Quorum, retries, validity and time are not its business.
 */
@NullMarked
package dev.lukko.spi;

import org.jspecify.annotations.NullMarked;
