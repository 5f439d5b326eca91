package dev.lukko.testkit;

import java.util.concurrent.CompletableFuture;

/**
 * One packet that a {@link FaultProxy} holds back until it is told to let it go.
 *
 * <p>Thread-safe.
 */
public final class HeldPacket {

  private final CompletableFuture<byte[]> arrival = new CompletableFuture<>();
  private boolean released;
  private Runnable wake = () -> {};

  HeldPacket() {}

  /**
   * The arrival of the packet in the proxy.
   *
   * @return completes with the bytes of the packet as soon as it is held; fails with {@link
   *     java.util.concurrent.CancellationException} if the proxy is healed or closed before
   */
  public CompletableFuture<byte[]> arrival() {
    return arrival.copy();
  }

  /**
   * Lets the packet go on, and all that wait behind it; one that has not arrived yet is not held.
   */
  public void release() {
    Runnable notify;
    synchronized (this) {
      released = true;
      notify = wake;
    }
    notify.run();
  }

  void cancel() {
    arrival.cancel(false);
    release();
  }

  /** Called by the plan under its lock; {@code wake} makes the plan ask again. */
  boolean isHeld(byte[] packet, Runnable wake) {
    synchronized (this) {
      this.wake = wake;
    }
    arrival.complete(packet);
    synchronized (this) {
      return !released;
    }
  }
}
