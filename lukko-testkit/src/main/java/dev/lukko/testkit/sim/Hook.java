package dev.lukko.testkit.sim;

/** A moment at which a fault can strike. */
enum Hook {
  /** A time since the beginning; a fault's number is then in microseconds. */
  TIME,
  /** The engine reads a clock, inside one of its steps. */
  CLOCK_READ,
  GRANT_SENT,
  GRANT_APPLIED,
  GRANT_REPLIED,
  CONFIRM_SENT,
  CONFIRM_APPLIED,
  CONFIRM_REPLIED,
  EXTEND_SENT,
  EXTEND_APPLIED,
  EXTEND_REPLIED,
  REPAIR_SENT,
  REPAIR_APPLIED,
  REPAIR_REPLIED,
  RELEASE_SENT,
  RELEASE_APPLIED,
  RELEASE_REPLIED,
  /** The line of fair waiters, node states and their admission. */
  OTHER_SENT,
  OTHER_APPLIED,
  OTHER_REPLIED,
  /** A contender has been given a lease. */
  LEASED,
  /** A contender has been told that its lease is lost. */
  LOST,
  /** A holder has found its lease valid, and is about to write. */
  CHECKED,
  /** A holder has sent a write to the resource. */
  WRITE_SENT;
}
