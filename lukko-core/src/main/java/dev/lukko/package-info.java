/** The contract: what a caller of a lock sees, whatever keeps the lock. */
@NullMarked
package dev.lukko;

import org.jspecify.annotations.NullMarked;
