/** The process of a client: one library behind a few words on its input and output. */
@NullMarked
package dev.lukko.scorecard.client;

import org.jspecify.annotations.NullMarked;
