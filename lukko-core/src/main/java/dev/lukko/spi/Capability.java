package dev.lukko.spi;

/** What a node can do beyond the plain exclusive lock. */
public enum Capability {
  /** Readers' entries, see {@link LockEntry#shared()}. */
  SHARED,
  /** A line of fair waiters, see {@link FairTicket}. */
  FAIR,
  /** Hints about releases, see {@link LockNode#watch}. */
  WATCH
}
