package dev.lukko;

import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread of a body when its lease is lost, if the request asks for that.
 *
 * <p>Disarming waits for nothing and is exact: an interrupt that comes from here never reaches the
 * thread after the body has ended, and one that was delivered for a loss does not outlive the body.
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
    if (armed && body != null) {
      delivered = true;
      body.interrupt();
    }
  }

  synchronized void disarm() {
    armed = false;
    if (delivered) {
      delivered = false;
      // Ours, and its purpose is fulfilled: the caller gets a LeaseLostException instead.
      Thread.interrupted();
    }
  }
}
