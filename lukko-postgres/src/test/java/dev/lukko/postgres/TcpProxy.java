package dev.lukko.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A wire to the server that can be cut without either side being told. */
final class TcpProxy implements AutoCloseable {
  private final ServerSocket listening;
  private final int target;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile boolean cut;
  private volatile long delayMillis;
  private final AtomicInteger lost = new AtomicInteger();

  TcpProxy(int target) throws IOException {
    this.target = target;
    this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start("accept", this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  /** From now on nothing passes, in either direction; the sockets stay open. */
  void cut() {
    cut = true;
  }

  /** What is open now is dead, and neither side is told; new connections pass. */
  void lose() {
    lost.incrementAndGet();
  }

  /** From now on each message to the server is on its way for so long. */
  void delay(long millis) {
    delayMillis = millis;
  }

  /** New connections pass again; what was cut stays dead. */
  void mend() {
    cut = false;
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        sockets.add(client);
        sockets.add(server);
        start("up", () -> pump(client, server, true));
        start("down", () -> pump(server, client, false));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void pump(Socket from, Socket to, boolean slow) {
    try (InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      byte[] buffer = new byte[8192];
      boolean dead = false;
      int born = lost.get();
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        dead |= cut || lost.get() != born;
        if (slow && delayMillis > 0) {
          Thread.sleep(delayMillis);
        }
        if (!dead) {
          out.write(buffer, 0, n);
        }
      }
      if (dead) {
        return;
      }
    } catch (InterruptedException never) {
      Thread.currentThread().interrupt();
    } catch (IOException broken) {
      // The other side went away; so does this one.
    }
  }

  private static void start(String name, Runnable task) {
    Thread thread = new Thread(task, "tcp-proxy-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listening.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
