/** Runs TLC on the model of the fencing token and explains what it finds. */
@NullMarked
package dev.lukko.spec;

import org.jspecify.annotations.NullMarked;
