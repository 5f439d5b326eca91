package dev.lukko.cli.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * The ledger as a service on the loopback interface: one line for a request, one for the reply.
 *
 * <pre>
 * PENDING book               the pending invoices, separated by blanks
 * STATUS book invoice        PENDING or POSTED
 * POST book invoice token    LANDED or REFUSED
 * </pre>
 *
 * <p>Each request is one atomic step; between two of them anything may happen, as in any ledger.
 */
final class LedgerServer implements AutoCloseable {

  private final Map<String, Book> books;
  private final ServerSocket listener;
  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();

  LedgerServer(Map<String, Book> books) throws IOException {
    this.books = Map.copyOf(books);
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon("lukko-demo-ledger", this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket connection = listener.accept();
        connections.add(connection);
        daemon("lukko-demo-ledger-" + connection.getPort(), () -> serve(connection));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket connection) {
    try (connection;
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(connection.getInputStream(), StandardCharsets.US_ASCII));
        PrintWriter out =
            new PrintWriter(connection.getOutputStream(), false, StandardCharsets.US_ASCII)) {
      connection.setTcpNoDelay(true);
      String request = in.readLine();
      while (request != null) {
        out.print(answer(request) + "\n");
        out.flush();
        request = in.readLine();
      }
    } catch (IOException gone) {
      // The worker has ended, or this server is being closed.
    } finally {
      connections.remove(connection);
    }
  }

  private String answer(String request) {
    String[] words = request.split(" ", -1);
    Book book = books.get(words[1]);
    if (book == null) {
      return "ERROR no book " + words[1];
    }
    try {
      return switch (words[0]) {
        case "PENDING" ->
            book.pending().stream().map(String::valueOf).collect(Collectors.joining(" "));
        case "STATUS" -> book.isPosted(Integer.parseInt(words[2])) ? "POSTED" : "PENDING";
        case "POST" ->
            book.post(Integer.parseInt(words[2]), Long.parseLong(words[3])) ? "LANDED" : "REFUSED";
        default -> "ERROR no request " + words[0];
      };
    } catch (RuntimeException failed) {
      return "ERROR " + String.valueOf(failed.getMessage()).replace('\n', ' ');
    }
  }

  private static void daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket connection : connections) {
      connection.close();
    }
  }
}
