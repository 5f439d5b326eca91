/** The {@code lukko} command. */
@NullMarked
package dev.lukko.cli;

import org.jspecify.annotations.NullMarked;
