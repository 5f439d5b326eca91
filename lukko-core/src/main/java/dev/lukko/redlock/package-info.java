/**
 * The engine: a lock on a quorum of independent nodes. Start at {@link dev.lukko.redlock.Redlock}.
 */
@NullMarked
package dev.lukko.redlock;

import org.jspecify.annotations.NullMarked;
