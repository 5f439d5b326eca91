package dev.lukko.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy that stands in front of a server and makes the faults of a network on request: held,
 * delayed and lost packets, connections that are reset, refused or silent.
 *
 * <p>A <i>packet</i> is what one read from a socket returns. Clients that have one request
 * outstanding write it in one piece, so a packet is then one request or one reply; predicates look
 * at its bytes. A stream that lost bytes in its middle does not exist, so a connection whose reply
 * was lost is either reset at that point or delivers nothing any more to the client, until {@link
 * #heal()} resets it.
 *
 * <p>Thread-safe. Predicates run in the threads of the proxy, which are daemon threads and end with
 * {@link #close()}.
 */
public final class FaultProxy implements AutoCloseable {

  private static final Duration BIND_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration JOIN_TIMEOUT = Duration.ofSeconds(5);

  private volatile InetSocketAddress server;
  private final int port;
  private final FaultPlan plan = new FaultPlan();
  private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private final AtomicLong accepted = new AtomicLong();
  private @Nullable ServerSocket listener;
  private @Nullable Thread acceptor;
  private boolean closed;

  private FaultProxy(InetSocketAddress server) {
    this.server = server;
    ServerSocket first = bind(0);
    this.port = first.getLocalPort();
    listen(first);
  }

  /**
   * Starts a proxy in front of a Redis server.
   *
   * @param server the server
   * @return a proxy that passes everything
   */
  public static FaultProxy to(RedisServer server) {
    return to(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
  }

  /**
   * Starts a proxy in front of any TCP server.
   *
   * @param server the address, which is connected to once per accepted connection
   * @return a proxy that passes everything
   */
  public static FaultProxy to(InetSocketAddress server) {
    return new FaultProxy(server);
  }

  /** The way that a packet goes. */
  public enum Direction {
    /** Requests. */
    TO_SERVER,
    /** Replies. */
    TO_CLIENT
  }

  /**
   * The port of the proxy.
   *
   * @return a port on the loopback interface
   */
  public int port() {
    return port;
  }

  /**
   * The address of the proxy as a URL.
   *
   * @param scheme for example {@code redis}
   * @return {@code scheme://127.0.0.1:port}
   */
  public String url(String scheme) {
    return scheme + "://127.0.0.1:" + port;
  }

  /** Holds everything in both directions: the peers see an open connection and silence. */
  public void hold() {
    plan.hold(Direction.TO_SERVER);
    plan.hold(Direction.TO_CLIENT);
  }

  /**
   * Holds everything in one direction; it goes on in order after {@link #heal()}.
   *
   * @param direction which way
   */
  public void hold(Direction direction) {
    plan.hold(direction);
  }

  /**
   * Holds the next packet that matches, and what follows it on the same connection in the same
   * direction, until {@link HeldPacket#release()}.
   *
   * @param direction which way
   * @param matching looks at the bytes of the packet
   * @return the packet, which may not have arrived yet
   */
  public HeldPacket holdNext(Direction direction, Predicate<byte[]> matching) {
    HeldPacket packet = new HeldPacket();
    plan.trapOnce(direction, matching, packet);
    return packet;
  }

  /**
   * Makes each packet of one direction wait before it goes on. A connection carries one packet at a
   * time, so what comes meanwhile waits for it too.
   *
   * @param direction which way
   * @param delay how long, not negative; zero ends the delay
   */
  public void delay(Direction direction, Duration delay) {
    if (delay.isNegative()) {
      throw new IllegalArgumentException("delay " + delay + " must not be negative");
    }
    plan.delay(direction, delay.toNanos());
  }

  /**
   * Passes the next request that matches, waits for its reply, and loses it: the connection stays
   * open but delivers nothing any more.
   *
   * @param request looks at the bytes of the request
   * @return completes with the bytes of the reply when they are lost
   */
  public CompletableFuture<byte[]> loseNextReply(Predicate<byte[]> request) {
    return plan.trapReply(request, FaultPlan.Verdict.MUTE);
  }

  /**
   * Passes the next request that matches, waits for its reply, loses it and resets the connection.
   *
   * @param request looks at the bytes of the request
   * @return completes with the bytes of the reply when they are lost
   */
  public CompletableFuture<byte[]> resetAtNextReply(Predicate<byte[]> request) {
    return plan.trapReply(request, FaultPlan.Verdict.RESET);
  }

  /**
   * Resets the connection of the next request that matches, without passing it to the server.
   *
   * @param request looks at the bytes of the request
   * @return completes with the bytes of the request when the connection is reset
   */
  public CompletableFuture<byte[]> resetAtNextRequest(Predicate<byte[]> request) {
    return plan.trapRequest(request);
  }

  /** Resets (RST, not FIN) every open connection. New ones are taken as before. */
  public void resetConnections() {
    connections.forEach(ProxiedConnection::reset);
  }

  /**
   * Leads new connections to another server, as a load balancer or a changed name does. Open ones
   * stay where they are.
   *
   * @param other the server
   */
  public void leadTo(RedisServer other) {
    server = new InetSocketAddress(InetAddress.getLoopbackAddress(), other.port());
  }

  /** Refuses new connections, as a machine does on which nothing listens. Open ones stay. */
  public void refuseConnections() {
    Thread acceptor = closeListener();
    if (acceptor != null) {
      // As long as its thread is inside accept, the kernel goes on to take connections.
      join(acceptor, System.nanoTime() + JOIN_TIMEOUT.toNanos());
    }
  }

  private synchronized @Nullable Thread closeListener() {
    ServerSocket current = listener;
    listener = null;
    if (current != null) {
      closeQuietly(current);
    }
    return acceptor;
  }

  /** Resets every open connection and refuses new ones. */
  public void cut() {
    refuseConnections();
    resetConnections();
  }

  /**
   * Ends every fault: held packets go on, connections that lost a reply are reset, new ones are
   * taken. Faults that were ordered and have not happened are forgotten, their futures cancelled.
   */
  public synchronized void heal() {
    requireOpen();
    connections.stream().filter(ProxiedConnection::isMute).forEach(ProxiedConnection::reset);
    plan.heal();
    if (listener == null) {
      listen(bind(port));
    }
  }

  /**
   * Counts the connections taken so far.
   *
   * @return a number that only rises
   */
  public long acceptedConnections() {
    return accepted.get();
  }

  /**
   * Counts the connections that are open now.
   *
   * @return the number of open connections
   */
  public int openConnections() {
    return connections.size();
  }

  /**
   * Counts the bytes that went through.
   *
   * @param direction which way
   * @return bytes passed on so far
   */
  public long passedBytes(Direction direction) {
    return plan.passedBytes(direction);
  }

  /**
   * Counts the bytes that wait in the proxy because they are held or delayed.
   *
   * @param direction which way
   * @return bytes taken from the sender and not passed on yet
   */
  public long waitingBytes(Direction direction) {
    return plan.waitingBytes(direction);
  }

  /** Resets all connections, gives the port back and ends the threads. Waits up to 5 s for them. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    cut(); // first, so that what is held is lost and not let go
    plan.close();
    long deadlineNanos = System.nanoTime() + JOIN_TIMEOUT.toNanos();
    threads.forEach(thread -> join(thread, deadlineNanos));
  }

  private static void join(Thread thread, long deadlineNanos) {
    try {
      TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, deadlineNanos - System.nanoTime()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the proxy is closed");
    }
  }

  /**
   * Between a refusal and its end some other socket may hold the port for a moment, hence the
   * bound.
   */
  private static ServerSocket bind(int port) {
    long deadlineNanos = System.nanoTime() + BIND_TIMEOUT.toNanos();
    while (true) {
      try {
        return new ServerSocket(port, 128, InetAddress.getLoopbackAddress());
      } catch (IOException e) {
        if (System.nanoTime() - deadlineNanos > 0) {
          throw new UncheckedIOException("cannot listen on port " + port, e);
        }
        Thread.onSpinWait();
      }
    }
  }

  private synchronized void listen(ServerSocket socket) {
    listener = socket;
    acceptor = startThread("lukko-proxy-accept-" + port, () -> accept(socket));
  }

  private void accept(ServerSocket socket) {
    while (true) {
      Socket client;
      try {
        client = socket.accept();
      } catch (IOException listenerClosed) {
        return;
      }
      accepted.incrementAndGet();
      open(client);
    }
  }

  private synchronized void open(Socket client) {
    ProxiedConnection connection = new ProxiedConnection(client, server, plan, connections::remove);
    connections.add(connection);
    if (closed) {
      connection.reset(); // close() may have passed while this connection was being taken
      return;
    }
    startThread("lukko-proxy-request-" + port, connection::runRequests);
    startThread("lukko-proxy-reply-" + port, connection::runReplies);
  }

  private synchronized Thread startThread(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    threads.removeIf(other -> !other.isAlive());
    thread.start();
    threads.add(thread);
    return thread;
  }

  private static void closeQuietly(ServerSocket socket) {
    try {
      socket.close();
    } catch (IOException ignored) {
      // nothing waits on it any more
    }
  }
}
