package dev.lukko;

import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread of a body when its lease is lost, if the request asks for that.
 *
 * <p>Disarming waits for nothing: an interrupt that comes from here never reaches the thread after
 * the body has ended, and the flag that it has set does not outlive the body. An interrupt of
 * somebody else's is kept where it can be told apart: if it came first, or if the body has taken
 * ours by an {@link InterruptedException}. One that comes while ours is pending cannot be, since a
 * thread has but one flag.
 */
final class LossInterrupt {
  private static final LossInterrupt NONE = new LossInterrupt(null);

  private final @Nullable Thread body;
  private boolean armed;
  private boolean delivered;

  private LossInterrupt(@Nullable Thread body) {
    this.body = body;
    this.armed = body != null;
  }

  static LossInterrupt arm(Lease lease, LockRequest request) {
    if (!request.interruptOnLoss()) {
      return NONE;
    }
    LossInterrupt interrupt = new LossInterrupt(Thread.currentThread());
    lease.onLost(reason -> interrupt.fire());
    return interrupt;
  }

  private synchronized void fire() {
    if (armed && body != null && !body.isInterrupted()) { // Else it is interrupted, by another.
      delivered = true;
      body.interrupt();
    }
  }

  /** The body has returned. */
  synchronized void disarm() {
    armed = false;
    if (delivered) {
      delivered = false;
      // Ours, and its purpose is fulfilled: the caller gets a LeaseLostException instead.
      Thread.interrupted();
    }
  }

  /** The body has thrown. */
  synchronized void disarm(Throwable failure) {
    if (isByInterrupt(failure)) {
      delivered = false; // It has taken our interrupt; a flag that is set now is another's.
    }
    disarm();
  }

  private static boolean isByInterrupt(Throwable failure) {
    Throwable cause = failure;
    for (int depth = 0; cause != null && depth < 20; depth++) {
      if (cause instanceof InterruptedException) {
        return true;
      }
      cause = cause.getCause();
    }
    return false;
  }
}
