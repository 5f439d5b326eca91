/**
 * Jobs that run once for each scheduled instant, however many replicas want to run them. Start at
 * {@link dev.lukko.schedule.OncePerTick}.
 */
@NullMarked
package dev.lukko.schedule;

import org.jspecify.annotations.NullMarked;
