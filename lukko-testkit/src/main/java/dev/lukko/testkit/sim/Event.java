package dev.lukko.testkit.sim;

import org.jspecify.annotations.Nullable;

/** Something that happens at a time, in a client if it has one. */
final class Event implements Comparable<Event> {
  private final long due;
  private final long number;
  final @Nullable SimClient client;
  final Runnable task;
  long time;
  boolean over;

  Event(long time, long number, @Nullable SimClient client, Runnable task) {
    this.time = time;
    this.due = time;
    this.number = number;
    this.client = client;
    this.task = task;
  }

  /** What a paused client has missed happens at its wake-up, in the order in which it was due. */
  @Override
  public int compareTo(Event other) {
    int byTime = Long.compare(time, other.time);
    if (byTime != 0) {
      return byTime;
    }
    int byDue = Long.compare(due, other.due);
    return byDue != 0 ? byDue : Long.compare(number, other.number);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(number);
  }
}
