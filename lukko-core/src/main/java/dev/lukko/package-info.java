/**
 * The contract of a distributed lock: clients, leases, requests, outcomes, events and errors.
 *
 * <p>Start at {@link dev.lukko.LockClient}. Implementations live elsewhere ({@code
 * dev.lukko.redlock}, {@code dev.lukko.postgres}); code that only uses a lock needs this package
 * alone, so the kind of lock can be changed in the one line that creates the client.
 */
@NullMarked
package dev.lukko;

import org.jspecify.annotations.NullMarked;
