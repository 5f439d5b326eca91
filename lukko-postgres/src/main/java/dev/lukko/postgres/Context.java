package dev.lukko.postgres;

import dev.lukko.LockRequest;
import dev.lukko.lease.Events;
import dev.lukko.time.Scheduler;
import dev.lukko.time.Ticker;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Executor;

/** What an attempt needs of its client. */
interface Context {

  Scheduler scheduler();

  /** Where the caller's code runs; never refuses. */
  Executor callbacks();

  Ticker ticker();

  Events events();

  Holds holds();

  Waiters waiters();

  boolean isClosed();

  /** The delay until the next round, with its random part. */
  long retryDelayNanos();

  /** The live session; opens one if there is none. */
  AdvisorySession session() throws SQLException;

  /** Says what a hold for this request would be like. */
  Hold.Terms terms(LockRequest request, List<LockKey> keys, boolean contended);

  /** Makes sure that announced releases are heard. */
  void listenForReleases();
}
