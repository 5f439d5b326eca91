/**
 * How the project's own tests say which rows of its table of fault scenarios they are, and how the
 * profile {@code faults} gathers what came out. Not exported.
 */
@NullMarked
package dev.lukko.testkit.rows;

import org.jspecify.annotations.NullMarked;
