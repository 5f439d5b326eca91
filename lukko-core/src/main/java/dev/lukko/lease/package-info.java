/**
 * What the leases of all clients have in common: the signal of their loss, and the queue of events.
 * Open to Lukko's own modules only.
 */
@NullMarked
package dev.lukko.lease;

import org.jspecify.annotations.NullMarked;
