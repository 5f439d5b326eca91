package dev.lukko.testkit;

import dev.lukko.testkit.FaultPlan.PendingLoss;
import dev.lukko.testkit.FaultPlan.Verdict;
import dev.lukko.testkit.FaultProxy.Direction;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a client through a {@link FaultProxy}: two sockets, one thread for each way.
 */
final class ProxiedConnection {

  private static final int CONNECT_TIMEOUT_MILLIS = 5_000;
  private static final int BUFFER_BYTES = 65_536;

  private final Socket client;
  private final Socket server = new Socket();
  private final InetSocketAddress serverAddress;
  private final FaultPlan plan;
  private final Consumer<ProxiedConnection> onClose;
  private final CountDownLatch connected = new CountDownLatch(1);
  private final AtomicInteger openWays = new AtomicInteger(2);
  private final AtomicBoolean open = new AtomicBoolean(true);
  private final AtomicReference<@Nullable PendingLoss> loss = new AtomicReference<>();
  private volatile boolean mute;

  ProxiedConnection(
      Socket client,
      InetSocketAddress serverAddress,
      FaultPlan plan,
      Consumer<ProxiedConnection> onClose) {
    this.client = client;
    this.serverAddress = serverAddress;
    this.plan = plan;
    this.onClose = onClose;
  }

  boolean isOpen() {
    return open.get();
  }

  boolean isMute() {
    return mute;
  }

  void loseNextReply(PendingLoss loss) {
    this.loss.set(loss);
  }

  void runRequests() {
    try {
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      server.connect(serverAddress, CONNECT_TIMEOUT_MILLIS);
    } catch (IOException e) {
      reset();
    } finally {
      connected.countDown();
    }
    pump(Direction.TO_SERVER, client, server);
  }

  void runReplies() {
    try {
      connected.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      reset();
    }
    pump(Direction.TO_CLIENT, server, client);
  }

  private void pump(Direction direction, Socket from, Socket to) {
    byte[] buffer = new byte[BUFFER_BYTES];
    try {
      for (int n = from.getInputStream().read(buffer);
          n >= 0;
          n = from.getInputStream().read(buffer)) {
        byte[] packet = Arrays.copyOf(buffer, n);
        Verdict verdict =
            mute && direction == Direction.TO_CLIENT ? Verdict.MUTE : admit(direction, packet);
        if (verdict == Verdict.RESET) {
          reset();
          return;
        }
        if (verdict == Verdict.PASS) {
          to.getOutputStream().write(packet);
        }
      }
      plan.awaitEndOfStream(direction, this);
      to.shutdownOutput();
      if (openWays.decrementAndGet() == 0) {
        close(false);
      }
    } catch (IOException peerIsGone) {
      reset(); // what one side suffered is handed on to the other
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      reset();
    }
  }

  private Verdict admit(Direction direction, byte[] packet) throws InterruptedException {
    PendingLoss pending = direction == Direction.TO_CLIENT ? loss.getAndSet(null) : null;
    if (pending == null) {
      return plan.admit(direction, packet, this);
    }
    mute = pending.verdict() == Verdict.MUTE;
    if (!mute) {
      reset(); // before the future completes, so that who waits for it sees the connection gone
    }
    pending.happened().complete(packet);
    return pending.verdict();
  }

  /** Closes both sides with RST. */
  void reset() {
    close(true);
  }

  private void close(boolean withReset) {
    if (!open.compareAndSet(true, false)) {
      return;
    }
    for (Socket socket : new Socket[] {client, server}) {
      try {
        if (withReset && !socket.isClosed()) {
          socket.setSoLinger(true, 0);
        }
      } catch (IOException alreadyClosed) {
        // then there is nothing left to reset
      }
      try {
        socket.close();
      } catch (IOException ignored) {
        // the descriptor is gone either way
      }
    }
    onClose.accept(this);
    plan.wake();
  }
}
