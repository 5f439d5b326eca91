/** A soak test: acknowledged additions to a fenced set, under all faults that can be made. */
@NullMarked
package dev.lukko.bench.soak;

import org.jspecify.annotations.NullMarked;
