package dev.lukko.fencing;

import java.util.concurrent.locks.ReentrantLock;

/** What an in-memory fence knows of one resource; all fields are guarded by the lock. */
final class FenceEntry {
  final ReentrantLock lock = new ReentrantLock();

  /** The highest token seen, by a read or a write; 0 before the first. */
  long highest;

  /** The token of the last accepted write; 0 before the first. */
  long written;

  long lastContactNanos;

  /** Set when the entry has left the map: whoever waited for it must look again. */
  boolean forgotten;

  FenceEntry(long createdNanos) {
    this.lastContactNanos = createdNanos;
  }
}
