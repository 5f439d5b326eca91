package dev.lukko.lease;

import dev.lukko.LockEvent;
import dev.lukko.LockListener;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The queue of events: listeners get them one after the other, in callback threads.
 *
 * <p>Listeners that are slower than the events come cost memory up to a bound; what comes beyond it
 * is dropped, counted, and reported in its place by a {@link LockEvent.EventsDropped}.
 */
public final class Events {
  /** How many events wait for slow listeners. */
  static final int MOST_WAITING = 4_096;

  private static final System.Logger LOG = System.getLogger(Events.class.getName());

  private final List<LockListener> listeners;
  private final Executor threads;
  private final Queue<LockEvent> waiting = new ArrayDeque<>();
  private long dropped;
  private boolean draining;

  /**
   * An empty queue.
   *
   * @param threads where listeners run; never refuses
   */
  public Events(List<LockListener> listeners, Executor threads) {
    this.listeners = List.copyOf(listeners);
    this.threads = threads;
  }

  /** Whether there is anybody to tell. */
  public boolean isHeard() {
    return !listeners.isEmpty();
  }

  /** Emits an event; without listeners it is not even made. */
  public void emit(Supplier<? extends LockEvent> event) {
    if (!isHeard()) {
      return;
    }
    LockEvent made = event.get();
    boolean isFirstDropped = false;
    boolean idle;
    synchronized (waiting) {
      if (waiting.size() >= MOST_WAITING) {
        isFirstDropped = dropped++ == 0;
      } else {
        addReport();
        waiting.add(made);
      }
      idle = !draining;
      draining = true;
    }
    if (isFirstDropped) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the listeners are slower than the events come; those beyond {0} are dropped and counted",
          MOST_WAITING);
    }
    if (idle) {
      threads.execute(this::drain);
    }
  }

  /** Puts the number of events that were dropped in the place where they are missing. */
  private void addReport() {
    if (dropped > 0) {
      waiting.add(new LockEvent.EventsDropped(dropped));
      dropped = 0;
    }
  }

  private void drain() {
    for (LockEvent event = next(); event != null; event = next()) {
      for (LockListener listener : listeners) {
        deliver(listener, event);
      }
    }
  }

  private @Nullable LockEvent next() {
    synchronized (waiting) {
      if (waiting.isEmpty()) {
        addReport();
      }
      LockEvent event = waiting.poll();
      draining = event != null;
      return event;
    }
  }

  private static void deliver(LockListener listener, LockEvent event) {
    try {
      listener.onEvent(event);
    } catch (Throwable failure) {
      LOG.log(
          System.Logger.Level.WARNING,
          "a listener failed at the event " + event.getClass().getSimpleName(),
          failure);
    }
  }
}
