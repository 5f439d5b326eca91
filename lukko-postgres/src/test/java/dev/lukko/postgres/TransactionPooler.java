package dev.lukko.postgres;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A pooler in transaction mode, in as few lines as the protocol allows: it gives a client a server
 * session when its first message comes, and takes it back when the server says that it is idle.
 * Like PgBouncer it announces process numbers of its own and hands out the session used last.
 */
final class TransactionPooler implements AutoCloseable {
  private final ServerSocket listening;
  private final PostgresServer.Database database;
  private final Deque<Server> idle = new ArrayDeque<>();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

  TransactionPooler(PostgresServer.Database database) throws IOException {
    this.database = database;
    this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  private record Server(DataInputStream in, DataOutputStream out) {}

  private static final class Message {
    private final int type;
    private final byte[] body;

    Message(int type, byte[] body) {
      this.type = type;
      this.body = body;
    }

    int type() {
      return type;
    }

    byte[] body() {
      return body;
    }

    static Message read(DataInputStream in) throws IOException {
      int type = in.readUnsignedByte();
      byte[] body = new byte[in.readInt() - 4];
      in.readFully(body);
      return new Message(type, body);
    }

    void write(DataOutputStream out) throws IOException {
      out.writeByte(type);
      out.writeInt(body.length + 4);
      out.write(body);
    }
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        sockets.add(client);
        start(() -> serve(client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (DataInputStream in =
            new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
      greet(in, out);
      while (true) {
        Message message = Message.read(in);
        if (message.type() == 'X') {
          return;
        }
        Server server = borrow();
        if (transaction(message, in, out, server)) {
          giveBack(server);
        }
      }
    } catch (IOException gone) {
      // The client went away, or the test is over.
    }
  }

  /** Passes messages until the server is idle again; false if the client left in between. */
  private static boolean transaction(
      Message first, DataInputStream in, DataOutputStream out, Server server) throws IOException {
    Message message = first;
    while (true) {
      message.write(server.out());
      server.out().flush();
      if (message.type() == 'Q' || message.type() == 'S') {
        Message reply = Message.read(server.in());
        while (reply.type() != 'Z') {
          reply.write(out);
          reply = Message.read(server.in());
        }
        reply.write(out);
        out.flush();
        if (reply.body()[0] == 'I') {
          return true;
        }
      }
      message = Message.read(in);
      if (message.type() == 'X') {
        return false;
      }
    }
  }

  private static void greet(DataInputStream in, DataOutputStream out) throws IOException {
    int length = in.readInt();
    int code = in.readInt();
    if (code == 80877103) { // A request for encryption.
      out.writeByte('N');
      out.flush();
      length = in.readInt();
      in.readInt();
    }
    in.skipNBytes(length - 8L);
    new Message('R', new byte[4]).write(out);
    parameter(out, "server_version", "14.0");
    parameter(out, "client_encoding", "UTF8");
    parameter(out, "DateStyle", "ISO, MDY");
    parameter(out, "integer_datetimes", "on");
    parameter(out, "standard_conforming_strings", "on");
    byte[] key = new byte[8];
    ThreadLocalRandom.current().nextBytes(key);
    key[0] = 0x7f; // Never the number of a real process.
    new Message('K', key).write(out);
    new Message('Z', new byte[] {'I'}).write(out);
    out.flush();
  }

  private static void parameter(DataOutputStream out, String name, String value)
      throws IOException {
    new Message('S', (name + "\0" + value + "\0").getBytes(StandardCharsets.UTF_8)).write(out);
  }

  private Server borrow() throws IOException {
    synchronized (idle) {
      if (!idle.isEmpty()) {
        return idle.pop();
      }
    }
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), database.port());
    sockets.add(socket);
    DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
    ByteArrayOutputStream startup = new ByteArrayOutputStream();
    startup.write(new byte[] {0, 3, 0, 0});
    startup.writeBytes(
        ("user\0postgres\0database\0" + database.name() + "\0\0").getBytes(StandardCharsets.UTF_8));
    out.writeInt(startup.size() + 4);
    startup.writeTo(out);
    out.flush();
    while (Message.read(in).type() != 'Z') {
      // Authentication (trust) and parameters.
    }
    return new Server(in, out);
  }

  private void giveBack(Server server) {
    synchronized (idle) {
      idle.push(server);
    }
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "transaction-pooler");
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
