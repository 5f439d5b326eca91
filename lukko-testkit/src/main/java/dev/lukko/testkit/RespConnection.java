package dev.lukko.testkit;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One socket that speaks RESP2, every read bounded. */
final class RespConnection implements AutoCloseable {

  private static final int MAX_TEXT = 512 << 20; // what a server stores at most
  private static final int MAX_DEPTH = 32;
  private static final int USUAL_ELEMENTS = 1_024;

  private final Socket socket = new Socket();
  private final InputStream in;
  private int depth;

  RespConnection(int port, @Nullable String password, Duration timeout) throws IOException {
    int timeoutMillis = Math.toIntExact(timeout.toMillis());
    try {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), timeoutMillis);
      socket.setSoTimeout(timeoutMillis);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
      if (password != null) {
        call("AUTH", password);
      }
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  /** Takes the bound away: for a connection that only listens and is ended by {@link #close()}. */
  void readWithoutTimeout() throws IOException {
    socket.setSoTimeout(0);
  }

  @Nullable Object call(String... command) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(ascii("*" + command.length + "\r\n"));
    for (String part : command) {
      byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
      out.writeBytes(ascii("$" + bytes.length + "\r\n"));
      out.writeBytes(bytes);
      out.writeBytes(ascii("\r\n"));
    }
    socket.getOutputStream().write(out.toByteArray());
    return read();
  }

  @Nullable Object read() throws IOException {
    String line = readLine();
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+' -> rest;
      case '-' -> throw new RedisCommandException(rest);
      case ':' -> Long.valueOf(rest);
      case '$' -> readBulk(Integer.parseInt(rest));
      case '*' -> readArray(Integer.parseInt(rest));
      default -> throw new IOException("not a RESP2 reply: " + line);
    };
  }

  private @Nullable String readBulk(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    if (length > MAX_TEXT) {
      throw new IOException("the reply announces a text of " + length + " bytes");
    }
    byte[] bytes = in.readNBytes(length + 2); // in parts, as they come
    if (bytes.length < length + 2) {
      throw new EOFException("connection closed inside a reply");
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  private @Nullable List<@Nullable Object> readArray(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    if (++depth > MAX_DEPTH) {
      throw new IOException("more than " + MAX_DEPTH + " lists inside one another");
    }
    // No room for what is only announced.
    List<@Nullable Object> elements = new ArrayList<>(Math.min(length, USUAL_ELEMENTS));
    for (int i = 0; i < length; i++) {
      elements.add(read());
    }
    depth--;
    return elements;
  }

  private String readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\r'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("connection closed by the server");
      }
      line.write(b);
    }
    if (in.read() != '\n' || line.size() == 0) {
      throw new IOException("not a RESP2 reply");
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException ignored) {
      // the descriptor is gone either way, and nothing was buffered for writing
    }
  }
}
