/** The only door through which clocks, timers and threads come into the core. */
@NullMarked
package dev.lukko.time;

import org.jspecify.annotations.NullMarked;
