package dev.lukko.postgres;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Work to be put into a queue; immutable.
 *
 * @param payload what the worker is given
 * @param priority the higher, the sooner, within what ageing allows
 * @param orderingKey jobs of the same key are worked on one at a time, in the order of their ids;
 *     empty for none
 * @param delay how long it must not be worked on; zero for at once. In an ordered queue, later jobs
 *     of the same key wait for it
 */
public record QueueJob(String payload, int priority, Optional<String> orderingKey, Duration delay) {

  /** Checks the parts. */
  public QueueJob {
    if (payload == null) {
      throw new IllegalArgumentException("payload is null; it must be a text");
    }
    if (Math.abs((long) priority) > 1_000) {
      throw new IllegalArgumentException(
          "priority is " + priority + "; it must be from -1000 to 1000");
    }
    QueueCalls.checkDuration("delay", delay, Duration.ZERO);
  }

  /** A job of priority 0, without a key, to be worked on at once. */
  public static QueueJob of(String payload) {
    return new QueueJob(payload, 0, Optional.empty(), Duration.ZERO);
  }

  /** This job with another priority, -1000 to 1000. */
  public QueueJob withPriority(int urgency) {
    return new QueueJob(payload, urgency, orderingKey, delay);
  }

  /** This job with an ordering key, or without one. */
  public QueueJob withOrderingKey(@Nullable String key) {
    return new QueueJob(payload, priority, Optional.ofNullable(key), delay);
  }

  /** This job, not before a time from now by the database's clock. */
  public QueueJob after(Duration wait) {
    return new QueueJob(payload, priority, orderingKey, wait);
  }
}
