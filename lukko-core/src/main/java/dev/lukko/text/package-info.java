/** What Lukko's modules do to texts before they show them. Not for others. */
@NullMarked
package dev.lukko.text;

import org.jspecify.annotations.NullMarked;
