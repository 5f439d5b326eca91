/** What stores and applications are tested with. */
@NullMarked
package dev.lukko.testkit;

import org.jspecify.annotations.NullMarked;
