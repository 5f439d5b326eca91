package dev.lukko;

/**
 * Receives the {@linkplain LockEvent events} of a client, one after the other, in a callback thread
 * of the client. What it throws is logged with the event's name and changes nothing else; a slow
 * listener delays later events, and no lock.
 */
@FunctionalInterface
public interface LockListener {

  /** Takes notice of an event. */
  void onEvent(LockEvent event);
}
