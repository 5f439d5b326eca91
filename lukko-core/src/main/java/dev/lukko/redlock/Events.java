package dev.lukko.redlock;

import dev.lukko.LockEvent;
import dev.lukko.LockListener;
import dev.lukko.time.Scheduler;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Hands events to the listeners, one after the other, in a callback thread. */
final class Events {
  private static final System.Logger LOG = System.getLogger(Events.class.getName());

  private final List<LockListener> listeners;
  private final Scheduler scheduler;
  private final Queue<LockEvent> waiting = new ArrayDeque<>();
  private boolean draining;

  Events(List<LockListener> listeners, Scheduler scheduler) {
    this.listeners = List.copyOf(listeners);
    this.scheduler = scheduler;
  }

  /** Whether there is anybody to tell. */
  boolean isHeard() {
    return !listeners.isEmpty();
  }

  /** Emits an event; without listeners it is not even made. */
  void emit(Supplier<? extends LockEvent> event) {
    if (!isHeard()) {
      return;
    }
    synchronized (this) {
      waiting.add(event.get());
      if (draining) {
        return;
      }
      draining = true;
    }
    scheduler.execute(this::drain);
  }

  private void drain() {
    for (LockEvent event = next(); event != null; event = next()) {
      for (LockListener listener : listeners) {
        deliver(listener, event);
      }
    }
  }

  private synchronized @Nullable LockEvent next() {
    LockEvent event = waiting.poll();
    draining = event != null;
    return event;
  }

  private static void deliver(LockListener listener, LockEvent event) {
    try {
      listener.onEvent(event);
    } catch (Throwable failure) {
      LOG.log(
          System.Logger.Level.WARNING,
          "a listener failed at the event " + event.getClass().getSimpleName(),
          failure);
      if (failure instanceof VirtualMachineError error) {
        throw error;
      }
    }
  }
}
