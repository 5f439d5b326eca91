package dev.lukko.postgres;

import java.util.Optional;

/**
 * A row in the hands of a worker.
 *
 * @param id its key
 * @param payload what it says; empty if the table has no such column
 * @param attempts how often it was tried before, crashes included; on lease, this try included
 * @param priority its priority; 0 if the table has no such column
 * @param orderingKey its ordering key, if any
 */
public record QueueRow(
    long id, String payload, int attempts, int priority, Optional<String> orderingKey) {}
