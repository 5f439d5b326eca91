/** A lock node inside this process: for tests, simulations and single-process programs. */
@NullMarked
package dev.lukko.memory;

import org.jspecify.annotations.NullMarked;
