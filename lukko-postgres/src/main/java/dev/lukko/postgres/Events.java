package dev.lukko.postgres;

import dev.lukko.LockEvent;
import dev.lukko.LockListener;
import dev.lukko.time.Scheduler;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Hands events to the listeners, one after the other, in a callback thread. */
final class Events {
  private static final System.Logger LOG = System.getLogger(Events.class.getName());

  private final List<LockListener> listeners;
  private final Scheduler scheduler;
  private final Queue<LockEvent> pending = new ArrayDeque<>(); // Its own lock; never held long.
  private boolean delivering;

  Events(List<LockListener> listeners, Scheduler scheduler) {
    this.listeners = List.copyOf(listeners);
    this.scheduler = scheduler;
  }

  /** Whether anybody listens; events that nobody wants need not be made. */
  boolean wanted() {
    return !listeners.isEmpty();
  }

  void send(LockEvent event) {
    synchronized (pending) {
      pending.add(event);
      if (delivering) {
        return;
      }
      delivering = true;
    }
    scheduler.execute(this::deliver);
  }

  private void deliver() {
    for (LockEvent event = next(); event != null; event = next()) {
      for (LockListener listener : listeners) {
        try {
          listener.onEvent(event);
        } catch (RuntimeException failure) {
          LOG.log(
              System.Logger.Level.ERROR,
              "a listener failed on " + event.getClass().getSimpleName(),
              failure);
        }
      }
    }
  }

  private @Nullable LockEvent next() {
    synchronized (pending) {
      LockEvent event = pending.poll();
      delivering = event != null;
      return event;
    }
  }
}
