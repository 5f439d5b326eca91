/**
 * Which releases a node's driver keeps, and when it repeats them: the decisions, without a
 * connection, a lock or a timer, so that the simulator runs the very ones of production. Open to
 * Lukko's own modules only.
 */
@NullMarked
package dev.lukko.release;

import org.jspecify.annotations.NullMarked;
