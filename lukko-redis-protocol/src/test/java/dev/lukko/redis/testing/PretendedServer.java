package dev.lukko.redis.testing;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * A server that says whatever a test wants, byte by byte. By default it is healthy, knows no {@code
 * HELLO}, and grants, extends and releases everything.
 */
public final class PretendedServer implements AutoCloseable {
  private static final String INFO =
      "redis_version:7.0.15\r\nredis_mode:standalone\r\n"
          + "run_id:5c21b7ed00000000000000000000000000000000\r\nuptime_in_seconds:60\r\n"
          + "role:master\r\ncluster_enabled:0\r\naof_enabled:1\r\n";

  /** That of a server which votes in a fleet of its own. */
  private static final String RECORD =
      "alone 1 0 5c21b7ed0000 0 5c21b7ed0000 5c21b7ed0000 0 voting";

  private final ServerSocket socket;
  private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
  private final List<String> commands = new CopyOnWriteArrayList<>();

  /** What it answers to a command, as sent; null for the default. */
  public final AtomicReference<Function<List<String>, String>> lies =
      new AtomicReference<>(words -> null);

  /** A server on a port of its own. */
  public PretendedServer() {
    try {
      socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    run(this::accept);
  }

  public String url() {
    return "redis://127.0.0.1:" + socket.getLocalPort();
  }

  /** The names of the commands since the start. */
  public List<String> commands() {
    return commands;
  }

  /** A text as the protocol writes it. */
  public static String bulk(String text) {
    return "$" + text.getBytes(StandardCharsets.UTF_8).length + "\r\n" + text + "\r\n";
  }

  /** What a healthy server tells of itself, with one field changed. */
  public static String info(String field, String value) {
    return bulk(INFO.replaceAll("(?m)^" + field + ":[^\r]*", field + ":" + value));
  }

  private static void run(Runnable task) {
    Thread thread = new Thread(task, "pretended-server");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!socket.isClosed()) {
      try {
        Socket client = socket.accept();
        clients.add(client);
        run(() -> serve(client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      InputStream in = new BufferedInputStream(client.getInputStream());
      while (true) {
        List<String> words = words(in);
        commands.add(words.get(0).toUpperCase(Locale.ROOT));
        String lie = lies.get().apply(words);
        String reply = lie == null ? truth(words) : lie;
        client.getOutputStream().write(reply.getBytes(StandardCharsets.UTF_8));
        client.getOutputStream().flush();
      }
    } catch (IOException ended) {
      clients.remove(client);
    }
  }

  private static String truth(List<String> words) {
    return switch (words.get(0).toUpperCase(Locale.ROOT)) {
      case "INFO" -> bulk(INFO);
      case "CONFIG" -> "*0\r\n";
      case "TIME" -> "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n";
      case "PING" -> "+PONG\r\n";
      case "CLIENT", "SELECT", "AUTH" -> "+OK\r\n";
      case "GET" -> "$-1\r\n";
      case "HGETALL" -> "*2\r\n" + bulk("alone 1") + bulk(RECORD);
      case "SUBSCRIBE" -> "*3\r\n" + bulk("subscribe") + bulk(words.get(1)) + ":1\r\n";
      case "EVALSHA", "EVAL" -> script(words);
      default -> "-ERR unknown command '" + words.get(0) + "', with args beginning with: \r\n";
    };
  }

  /** The quick forms: a grant of six arguments gets its proposal, all else a yes. */
  private static String script(List<String> words) {
    int keys = Integer.parseInt(words.get(2));
    List<String> arguments = words.subList(3 + keys, words.size());
    return arguments.size() == 6 ? bulk(arguments.get(3)) : ":1\r\n";
  }

  private static List<String> words(InputStream in) throws IOException {
    int count = number(in, '*');
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int length = number(in, '$');
      words.add(new String(in.readNBytes(length), StandardCharsets.UTF_8));
      in.skipNBytes(2);
    }
    return words;
  }

  private static int number(InputStream in, char kind) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException();
      }
      line.append((char) c);
    }
    if (line.charAt(0) != kind) {
      throw new IOException("not a command: " + line);
    }
    return Integer.parseInt(line.substring(1).trim());
  }

  @Override
  public void close() {
    try {
      socket.close();
      for (Socket client : clients) {
        client.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
