package dev.lukko.redis;

import dev.lukko.time.DaemonThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Loads what the driver needs for a first connection, by one to a socket of this process that
 * refuses everything: half a second or more in a fresh process, which no server is to blame for.
 */
final class DriverWarmup {
  private static final Duration LONGEST = Duration.ofSeconds(10);

  private DriverWarmup() {}

  static void run() {
    try (ServerSocket refusing = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      new DaemonThreads("lukko-warm-up").newThread(() -> refuse(refusing)).start();
      RedisNode.builder()
          .connectTimeout(LONGEST)
          .probe("redis://127.0.0.1:" + refusing.getLocalPort())
          .close();
    } catch (IOException | RuntimeException expected) {
      System.getLogger(DriverWarmup.class.getName())
          .log(System.Logger.Level.TRACE, "warmed up", expected);
    }
  }

  private static void refuse(ServerSocket socket) {
    while (!socket.isClosed()) {
      try (Socket client = socket.accept()) {
        if (client.getInputStream().read() >= 0) {
          client
              .getOutputStream()
              .write("-ERR no\r\n-ERR no\r\n".getBytes(StandardCharsets.US_ASCII));
        }
      } catch (IOException closed) {
        return;
      }
    }
  }
}
