/**
 * The story that {@code lukko demo} tells: worker processes, a ledger, and five servers.
 *
 * <p>The ledger is a service inside the demo's own process, and every count comes from what was
 * posted to it.
 */
@NullMarked
package dev.lukko.cli.demo;

import org.jspecify.annotations.NullMarked;
