/**
 * The production engine under a virtual clock and a network that fails on purpose, from one seed.
 *
 * <p>{@link dev.lukko.testkit.sim.Simulation} is where to begin.
 */
@NullMarked
package dev.lukko.testkit.sim;

import org.jspecify.annotations.NullMarked;
