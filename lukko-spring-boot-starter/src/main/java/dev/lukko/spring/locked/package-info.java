/** Honours {@link dev.lukko.annotation.Locked} on beans. */
@NullMarked
package dev.lukko.spring.locked;

import org.jspecify.annotations.NullMarked;
