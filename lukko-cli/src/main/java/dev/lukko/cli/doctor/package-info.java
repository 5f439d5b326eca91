/** What {@code lukko doctor} asks, and what it makes of the answers. */
@NullMarked
package dev.lukko.cli.doctor;

import org.jspecify.annotations.NullMarked;
