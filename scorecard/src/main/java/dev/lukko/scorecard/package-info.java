/** The same faults for several lock libraries, and what came of them. */
@NullMarked
package dev.lukko.scorecard;

import org.jspecify.annotations.NullMarked;
