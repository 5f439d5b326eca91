/**
 * Locks, queues and jobs for those who have a PostgreSQL server already.
 *
 * <p>{@link dev.lukko.postgres.PostgresAdvisoryLocks} is a {@link dev.lukko.LockClient} whose
 * leases live as long as a database session; {@link dev.lukko.postgres.SkipLockedQueue} hands out
 * the rows of a table, each to one worker; {@link dev.lukko.postgres.OncePerTick} runs a job once
 * for each scheduled instant. What they keep in the database is {@link
 * dev.lukko.postgres.PostgresSchema}.
 */
@NullMarked
package dev.lukko.postgres;

import org.jspecify.annotations.NullMarked;
