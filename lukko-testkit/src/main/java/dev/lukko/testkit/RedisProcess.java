package dev.lukko.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The process behind a {@link RedisServer}: its port, its directory, its signals. */
final class RedisProcess implements AutoCloseable {

  private static final Duration START_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(1);
  private static final int MAX_PORTS = 20;
  private static final int LOG_LINES_SHOWN = 15;

  private final Path program;
  private final boolean sentinel;
  private final boolean portIsChosen;
  private final @Nullable String password;
  private final List<String> config;
  private final Map<String, String> environment;
  private final Path directory;
  private volatile int port;
  private volatile @Nullable ProcessHandle handle;

  RedisProcess(
      Path program,
      boolean sentinel,
      int port,
      @Nullable String password,
      List<String> config,
      Map<String, String> environment) {
    this.program = program;
    this.sentinel = sentinel;
    this.portIsChosen = port != 0;
    this.port = port;
    this.password = password;
    this.config = config;
    this.environment = environment;
    try {
      this.directory = Files.createTempDirectory("lukko-redis-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return port;
  }

  Path directory() {
    return directory;
  }

  ProcessHandle handle() {
    ProcessHandle current = handle;
    if (current == null) {
      throw new IllegalStateException("never started");
    }
    return current;
  }

  /** Starts the process and returns when it answers. */
  synchronized void start() {
    long deadlineNanos = System.nanoTime() + START_TIMEOUT.toNanos();
    boolean firstStart = handle == null;
    for (int attempt = 1; ; attempt++) {
      if (firstStart && !portIsChosen) {
        port = freePort();
      }
      ProcessHandle started = launch(deadlineNanos);
      handle = started;
      if (awaitAnswer(started, deadlineNanos)) {
        return;
      }
      started.destroyForcibly();
      awaitExit(started);
      // Between the look for a free port and the bind another process may have taken it; a port
      // that must stay the same is asked for again until the bound, a free one is drawn anew. The
      // C libraries word the error differently: "Address in use", "Address already in use".
      boolean portWasLost = log().matches("(?s).*Address (already )?in use.*");
      if (!portWasLost
          || System.nanoTime() - deadlineNanos > 0
          || (!portIsChosen && attempt == MAX_PORTS)) {
        throw new IllegalStateException(
            "redis-server did not answer on port " + port + "; the end of its log:\n" + endOfLog());
      }
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ProcessHandle launch(long deadlineNanos) {
    try {
      List<String> lines = new ArrayList<>(config);
      lines.add("port " + port);
      lines.add("dir \"" + directory + "\"");
      Files.write(directory.resolve("redis.conf"), lines);
      Files.writeString(
          logFile(), "", StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
      List<String> command = new ArrayList<>(List.of(program.toString(), "redis.conf"));
      if (sentinel) {
        command.add("--sentinel");
      }
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(logFile().toFile());
      builder.environment().putAll(environment);
      ProcessHandle started = spawn(builder, deadlineNanos).toHandle();
      LiveProcesses.add(started);
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + program, e);
    }
  }

  /**
   * A program that was just extracted may still be open for writing in a child that another thread
   * is forking at this moment; the system then refuses to run it ("text file busy", error 26).
   */
  private static Process spawn(ProcessBuilder builder, long deadlineNanos) throws IOException {
    while (true) {
      try {
        return builder.start();
      } catch (IOException e) {
        String message = String.valueOf(e.getMessage());
        if (!message.contains("error=26") || System.nanoTime() - deadlineNanos > 0) {
          throw e;
        }
        pauseBriefly();
      }
    }
  }

  /** Waits until this very process answers: another server may have won the race for the port. */
  private boolean awaitAnswer(ProcessHandle started, long deadlineNanos) {
    while (started.isAlive() && System.nanoTime() - deadlineNanos < 0) {
      try (RespConnection connection = new RespConnection(port, password, PROBE_TIMEOUT)) {
        boolean pong = "PONG".equals(connection.call("PING"));
        String info = String.valueOf(connection.call("INFO", "server"));
        if (pong && info.contains("process_id:" + started.pid() + "\r\n")) {
          return true;
        }
      } catch (IOException | RedisCommandException notYet) {
        // not listening yet, or loading its data
      }
      pauseBriefly();
    }
    return false;
  }

  synchronized void kill() {
    ProcessHandle current = handle;
    if (current != null) {
      current.destroyForcibly();
      awaitExit(current);
    }
  }

  synchronized void stop() {
    ProcessHandle current = handle();
    if (current.isAlive()) {
      signal("CONT", current);
      current.destroy();
      awaitExit(current);
    }
  }

  synchronized void pause() {
    ProcessHandle current = running();
    signal("STOP", current);
    long deadlineNanos = System.nanoTime() + STOP_TIMEOUT.toNanos();
    while (!standsStill(current) && System.nanoTime() - deadlineNanos < 0) {
      pauseBriefly();
    }
  }

  synchronized void resume() {
    signal("CONT", running());
  }

  private ProcessHandle running() {
    ProcessHandle current = handle();
    if (!current.isAlive()) {
      throw new IllegalStateException("the server on port " + port + " does not run");
    }
    return current;
  }

  /** The kernel says so where it can be asked; elsewhere the signal itself has to do. */
  private static boolean standsStill(ProcessHandle process) {
    Path stat = Path.of("/proc", Long.toString(process.pid()), "stat");
    try {
      String line = Files.readString(stat);
      return line.substring(line.lastIndexOf(')') + 2).startsWith("T");
    } catch (IOException noSuchFile) {
      return true;
    }
  }

  private static void signal(String name, ProcessHandle process) {
    try {
      Process kill =
          new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!kill.waitFor(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS) || kill.exitValue() != 0) {
        kill.destroyForcibly();
        throw new IllegalStateException("kill -" + name + " " + process.pid() + " failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while signalling", e);
    }
  }

  private static void awaitExit(ProcessHandle process) {
    CompletableFuture<ProcessHandle> exit = process.onExit();
    boolean interrupted = false;
    long deadlineNanos = System.nanoTime() + STOP_TIMEOUT.toNanos();
    try {
      while (true) {
        try {
          exit.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
          return;
        } catch (InterruptedException e) {
          interrupted = true; // a process must not be left behind because its test was interrupted
        } catch (ExecutionException | TimeoutException e) {
          process.destroyForcibly();
          throw new IllegalStateException("process " + process.pid() + " did not end", e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void pauseBriefly() {
    try {
      TimeUnit.MILLISECONDS.sleep(5);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for redis-server", e);
    }
  }

  private Path logFile() {
    return directory.resolve("redis.log");
  }

  private String log() {
    try {
      return Files.readString(logFile());
    } catch (IOException e) {
      return "(no log: " + e + ")";
    }
  }

  private String endOfLog() {
    List<String> lines = log().lines().toList();
    return String.join(
        "\n", lines.subList(Math.max(0, lines.size() - LOG_LINES_SHOWN), lines.size()));
  }

  @Override
  public synchronized void close() {
    kill();
    try {
      Directories.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
