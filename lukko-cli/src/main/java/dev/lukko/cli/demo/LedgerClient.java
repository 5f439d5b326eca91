package dev.lukko.cli.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** A worker's connection to the ledger. Not thread-safe. */
final class LedgerClient implements AutoCloseable {

  private static final int READ_TIMEOUT_MILLIS = 10_000;

  private final Socket connection;
  private final BufferedReader in;
  private final PrintWriter out;

  LedgerClient(int port) throws IOException {
    connection = new Socket(InetAddress.getLoopbackAddress(), port);
    connection.setTcpNoDelay(true);
    connection.setSoTimeout(READ_TIMEOUT_MILLIS);
    in =
        new BufferedReader(
            new InputStreamReader(connection.getInputStream(), StandardCharsets.US_ASCII));
    out = new PrintWriter(connection.getOutputStream(), false, StandardCharsets.US_ASCII);
  }

  List<Integer> pending(String book) throws IOException {
    return Stream.of(call("PENDING " + book).split(" ", -1))
        .filter(number -> !number.isEmpty())
        .map(Integer::valueOf)
        .toList();
  }

  boolean isPending(String book, int invoice) throws IOException {
    return call("STATUS " + book + " " + invoice).equals("PENDING");
  }

  /** Posts an invoice, and says whether that landed. */
  boolean post(String book, int invoice, long token) throws IOException {
    return call("POST " + book + " " + invoice + " " + token).equals("LANDED");
  }

  private String call(String request) throws IOException {
    out.print(request + "\n");
    out.flush();
    String reply = in.readLine();
    if (reply == null || reply.startsWith("ERROR")) {
      throw new IOException("the ledger answered '" + reply + "' to '" + request + "'");
    }
    return reply;
  }

  @Override
  public void close() throws IOException {
    connection.close();
  }
}
