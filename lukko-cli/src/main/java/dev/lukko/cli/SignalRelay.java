package dev.lukko.cli;

import dev.lukko.cli.process.Signal;
import dev.lukko.cli.process.SignalTrap;
import dev.lukko.cli.process.Terminal;
import java.util.EnumSet;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Passes the signals that this process gets on to its child.
 *
 * <p>Before there is a child, a signal ends the wait for the lock: it interrupts the thread that
 * made the relay. After the child has ended there is only the release left, which is short, and
 * signals change nothing.
 */
final class SignalRelay implements AutoCloseable {

  private final Thread waiter = Thread.currentThread();
  private final SignalTrap trap;
  private @Nullable Signal early;
  private @Nullable ProcessHandle child;
  private boolean done;

  SignalRelay() {
    trap = SignalTrap.install(EnumSet.of(Signal.HUP, Signal.INT, Signal.TERM), this::onSignal);
  }

  /** The signal that came before there was a child. */
  synchronized Optional<Signal> early() {
    return Optional.ofNullable(early);
  }

  /** Sends the child what comes from now on, and what has come since the last look. */
  synchronized void attach(ProcessHandle child) {
    this.child = child;
    if (early != null) {
      early.sendTo(child);
    }
    // The interrupt was meant for the wait that is over.
    Thread.interrupted();
  }

  /** Sends nothing any more. */
  synchronized void detach() {
    done = true;
    child = null;
  }

  private synchronized void onSignal(Signal signal) {
    if (child != null) {
      // The terminal has sent its Ctrl-C to the child as well, and many programs take a second
      // one as the wish to end without cleaning up.
      if (signal != Signal.INT || !Terminal.hasForeground()) {
        signal.sendTo(child);
      }
    } else if (!done && early == null) {
      early = signal;
      waiter.interrupt();
    }
  }

  @Override
  public void close() {
    trap.close();
  }
}
