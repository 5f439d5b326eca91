package dev.lukko.redis.protocol;

import static java.lang.System.Logger.Level.WARNING;

import dev.lukko.time.Ticker;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** One channel: who watches it, and whether a release may have gone unheard. Thread-safe. */
final class HintChannel {
  private static final System.Logger LOG = System.getLogger(HintChannel.class.getName());

  private final String name;
  private final List<Runnable> hints = new CopyOnWriteArrayList<>();
  private volatile long unusedSinceNanos = Ticker.system().nanoTime();
  private boolean lingering;
  private volatile boolean inForce;
  private volatile boolean heardSinceAsking;

  HintChannel(String name) {
    this.name = name;
  }

  String name() {
    return name;
  }

  void add(Runnable hint) {
    hints.add(hint);
  }

  /** Removes a watcher; says whether it was the last one. */
  boolean remove(Runnable hint) {
    boolean last = hints.remove(hint) && hints.isEmpty();
    unusedSinceNanos = Ticker.system().nanoTime();
    return last;
  }

  /** Whether a timer for the end of the subscription is needed: nobody watches, and none is set. */
  synchronized boolean beginToLinger() {
    boolean begins = hints.isEmpty() && !lingering;
    lingering |= begins;
    return begins;
  }

  synchronized void endToLinger() {
    lingering = false;
  }

  boolean isUnusedFor(long nanos) {
    return hints.isEmpty() && Ticker.system().nanoTime() - unusedSinceNanos >= nanos;
  }

  /** What is heard from now on may be about the entry that a grant is about to meet. */
  void asking() {
    heardSinceAsking = false;
  }

  /**
   * Whether a new watcher gets a hint at once: a release was heard after the last grant was asked
   * for, when nobody was watching yet. Before the subscription is in force it is too early to say.
   */
  boolean mayHaveMissed() {
    return inForce && heardSinceAsking;
  }

  /** A release was published, or the subscription has come into force. */
  void heard(boolean subscribed) {
    if (subscribed) {
      inForce = true;
    }
    heardSinceAsking = true;
    hints.forEach(this::call);
  }

  void broken() {
    inForce = false;
  }

  void end() {
    hints.clear();
  }

  void call(Runnable hint) {
    try {
      hint.run();
    } catch (RuntimeException broken) {
      LOG.log(WARNING, "a hint about " + name + " failed", broken);
    }
  }
}
