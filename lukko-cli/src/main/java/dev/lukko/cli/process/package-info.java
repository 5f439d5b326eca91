/** Processes and signals, as far as Java alone does not reach. */
@NullMarked
package dev.lukko.cli.process;

import org.jspecify.annotations.NullMarked;
