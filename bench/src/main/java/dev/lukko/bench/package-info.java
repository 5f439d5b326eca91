/** Benchmarks of the engine and of its stores. */
@NullMarked
package dev.lukko.bench;

import org.jspecify.annotations.NullMarked;
