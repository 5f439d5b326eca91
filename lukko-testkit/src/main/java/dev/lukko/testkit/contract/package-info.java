/** The suite that every lock node passes, for stores of one's own too. */
@NullMarked
package dev.lukko.testkit.contract;

import org.jspecify.annotations.NullMarked;
