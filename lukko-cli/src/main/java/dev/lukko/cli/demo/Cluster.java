package dev.lukko.cli.demo;

import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/** The demo's Redis servers: real processes that can be killed and hung. */
final class Cluster implements AutoCloseable {

  private static final int PROBE_TIMEOUT_MILLIS = 500;

  private final RedisServers servers;

  private Cluster(RedisServers servers) {
    this.servers = servers;
  }

  static Cluster start(int size) {
    try {
      return new Cluster(RedisServers.start(size));
    } catch (IllegalStateException notStarted) {
      Throwable cause = notStarted.getCause();
      throw new DemoFailedException(
          "no Redis servers: " + (cause == null ? notStarted : cause).getMessage());
    }
  }

  List<String> urls() {
    return servers.urls();
  }

  String ports() {
    return servers.all().stream()
        .map(server -> Integer.toString(server.port()))
        .collect(Collectors.joining(" "));
  }

  /** Kills a server with SIGKILL. */
  void kill(int index) {
    servers.get(index).kill();
  }

  /** Stops a server with SIGSTOP: its connections stay open, and nothing is answered. */
  void hang(int index) {
    servers.get(index).pause();
  }

  int port(int index) {
    return servers.get(index).port();
  }

  /** How many servers have no process. */
  int killed() {
    return (int) servers.all().stream().filter(server -> !server.isAlive()).count();
  }

  /** How many servers have a process and do not answer a PING. */
  int hung() {
    return (int)
        servers.all().stream()
            .filter(RedisServer::isAlive)
            .filter(server -> !answers(server.port()))
            .count();
  }

  private static boolean answers(int port) {
    try (Socket connection = new Socket()) {
      connection.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PROBE_TIMEOUT_MILLIS);
      connection.setSoTimeout(PROBE_TIMEOUT_MILLIS);
      connection.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
      InputStream in = connection.getInputStream();
      return in.read() == '+';
    } catch (IOException noAnswer) {
      return false;
    }
  }

  @Override
  public void close() {
    servers.close();
  }
}
