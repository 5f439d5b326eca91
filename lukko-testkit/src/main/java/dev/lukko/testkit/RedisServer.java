package dev.lukko.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One real Redis (or Valkey) server: a process of its own on a loopback port, for tests.
 *
 * <pre>{@code
 * try (RedisServer server = RedisServer.start()) {
 *     server.command("SET", "greeting", "hello");
 *     ...
 * }
 * }</pre>
 *
 * <p>The server has its own temporary directory, which {@link #close()} deletes together with the
 * process. It writes no snapshots; see {@link Builder#appendOnly()} for data that outlives {@link
 * #kill()}. Whatever happens to the test, the process ends with this JVM.
 *
 * <p>Thread-safe. Every method has a bound and throws when it is passed.
 */
public final class RedisServer implements AutoCloseable {

  private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(5);

  private final @Nullable String password;
  private final RedisProcess process;

  private RedisServer(@Nullable String password, RedisProcess process) {
    this.password = password;
    this.process = process;
  }

  /**
   * Starts a server with the bundled program and default options.
   *
   * @return the server, which answers already
   * @throws IllegalStateException if no program is there for this platform, or the server does not
   *     answer within 10 s
   */
  public static RedisServer start() {
    return builder().start();
  }

  /**
   * Returns a builder.
   *
   * @return a builder with default options
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * The address of the server.
   *
   * @return {@code redis://127.0.0.1:port}, without the password
   */
  public String url() {
    return "redis://127.0.0.1:" + port();
  }

  /**
   * The TCP port, which stays the same over {@link #restart()}.
   *
   * @return the port on the loopback interface
   */
  public int port() {
    return process.port();
  }

  /**
   * The process id.
   *
   * @return the id of the process that runs, or of the last one that ran
   */
  public long pid() {
    return process.handle().pid();
  }

  /**
   * The working directory of the server, with its log and its data.
   *
   * @return a directory that exists until {@link #close()}
   */
  public Path directory() {
    return process.directory();
  }

  /**
   * Says whether the process is there; a paused one is.
   *
   * @return whether the process exists
   */
  public boolean isAlive() {
    return process.handle().isAlive();
  }

  /** Kills the process with SIGKILL and waits until it is gone. Does nothing if there is none. */
  public void kill() {
    process.kill();
  }

  /** Asks the server to shut down and waits until it is gone; resumes it first if it is paused. */
  public void stop() {
    process.stop();
  }

  /**
   * Starts the server again on the same port with the same directory and options, after killing it
   * if it runs. Returns when it answers, with its data loaded.
   *
   * @throws IllegalStateException if it does not answer within 10 s
   */
  public void restart() {
    process.kill();
    process.start();
  }

  /**
   * Pauses the process with SIGSTOP: connections stay open, requests are taken by the kernel, and
   * nothing is answered until {@link #resume()}. Returns when the process stands still.
   *
   * @throws IllegalStateException if the process does not run
   */
  public void pause() {
    process.pause();
  }

  /**
   * Resumes a paused process with SIGCONT; it then runs what it was sent meanwhile.
   *
   * @throws IllegalStateException if the process does not run
   */
  public void resume() {
    process.resume();
  }

  /**
   * The size of the append-only file now: a point to which {@link #truncateAppendOnlyFile} can cut
   * the file back later.
   *
   * @return the size in bytes
   * @throws IllegalStateException if the server has no append-only file
   */
  public long appendOnlyFileSizeBytes() {
    return AppendOnlyFile.in(directory()).sizeBytes();
  }

  /**
   * Cuts the append-only file back, as a loss of power does to what was not yet on the disk.
   * Killing the process alone loses nothing, because the kernel keeps what was written.
   *
   * @param sizeBytes a size returned by {@link #appendOnlyFileSizeBytes()} before
   * @throws IllegalStateException if the process runs, or there is no append-only file
   * @throws IllegalArgumentException if {@code sizeBytes < 0} or above the size of the file
   */
  public void truncateAppendOnlyFile(long sizeBytes) {
    if (isAlive()) {
      throw new IllegalStateException("kill or stop the server before its file is cut");
    }
    AppendOnlyFile.in(directory()).truncate(sizeBytes);
  }

  /**
   * Sends one command on a new connection and waits up to 5 s for the reply.
   *
   * @param command the words of the command
   * @return the reply: a {@link String}, a {@link Long}, a {@link List} of such, or null
   * @throws RedisCommandException if the server answers with an error
   * @throws UncheckedIOException if it cannot be reached or does not answer
   */
  public @Nullable Object command(String... command) {
    return call(password, command);
  }

  /**
   * Sends one command as {@link #command} does, with another password than that of the builder.
   *
   * @param password the password of the default user
   * @param command the words of the command
   * @return the reply
   * @throws RedisCommandException if the server answers with an error
   * @throws UncheckedIOException if it cannot be reached or does not answer
   */
  public @Nullable Object commandWithPassword(String password, String... command) {
    return call(password, command);
  }

  private @Nullable Object call(@Nullable String secret, String... command) {
    try (RespConnection connection = new RespConnection(port(), secret, COMMAND_TIMEOUT)) {
      return connection.call(command);
    } catch (IOException e) {
      throw new UncheckedIOException(String.join(" ", command) + " at " + url(), e);
    }
  }

  RespConnection connect() throws IOException {
    return new RespConnection(port(), password, COMMAND_TIMEOUT);
  }

  /** Kills the process, paused or not, and deletes its directory. Does nothing the second time. */
  @Override
  public void close() {
    process.close();
  }

  @Override
  public String toString() {
    return "RedisServer[" + url() + ", pid " + pid() + "]";
  }

  /** Which server program is run. */
  public enum Binary {
    /** Redis 7.0.15, carried by the jar {@code org.signal:embedded-redis}. */
    BUNDLED,
    /** {@code redis-server} on the PATH. */
    REDIS_ON_PATH,
    /** {@code valkey-server} on the PATH. */
    VALKEY_ON_PATH;

    /**
     * Looks for the program.
     *
     * @return its file, or empty if this machine has none
     */
    public Optional<Path> find() {
      return switch (this) {
        case BUNDLED -> RedisBinaries.bundled();
        case REDIS_ON_PATH -> RedisBinaries.onPath("redis-server");
        case VALKEY_ON_PATH -> RedisBinaries.onPath("valkey-server");
      };
    }
  }

  /** Builds and starts a {@link RedisServer}. Not thread-safe; may start several servers. */
  public static final class Builder {

    private @Nullable Path executable;
    private Binary binary = Binary.BUNDLED;
    private int port;
    private boolean appendOnly;
    private boolean sentinel;
    private @Nullable String password;
    private final List<String> config = new ArrayList<>();
    private final Map<String, String> environment = new TreeMap<>();

    private Builder() {}

    /**
     * Chooses the program. Default: {@link Binary#BUNDLED}.
     *
     * @param binary which program
     * @return this builder
     */
    public Builder binary(Binary binary) {
      this.binary = binary;
      this.executable = null;
      return this;
    }

    /**
     * Chooses the program by its file.
     *
     * @param executable a server program that takes Redis options
     * @return this builder
     */
    public Builder executable(Path executable) {
      this.executable = executable;
      return this;
    }

    /**
     * Chooses the port. Default: 0, a free one picked by the system.
     *
     * @param port from 0 to 65535
     * @return this builder
     */
    public Builder port(int port) {
      if (port < 0 || port > 65_535) {
        throw new IllegalArgumentException("port " + port + " must be from 0 to 65535");
      }
      this.port = port;
      return this;
    }

    /**
     * Makes the server write each change to its append-only file, and to the disk, before it
     * answers. The file is not rewritten by itself, so that it can be cut back.
     *
     * @return this builder
     */
    public Builder appendOnly() {
      this.appendOnly = true;
      return this;
    }

    /**
     * Makes the server a Sentinel, which watches the masters that its configuration names.
     *
     * @return this builder
     */
    public Builder sentinel() {
      this.sentinel = true;
      return this;
    }

    /**
     * Makes the server ask for a password, which {@link RedisServer#command} then sends.
     *
     * @param password the password
     * @return this builder
     */
    public Builder password(String password) {
      this.password = password;
      return this;
    }

    /**
     * Adds lines of configuration, such as {@code maxmemory 2mb}; they win over the defaults.
     *
     * @param lines lines as in {@code redis.conf}
     * @return this builder
     */
    public Builder config(String... lines) {
      config.addAll(List.of(lines));
      return this;
    }

    /**
     * Sets a variable in the environment of the process.
     *
     * @param name the name
     * @param value the value
     * @return this builder
     */
    public Builder environment(String name, String value) {
      environment.put(name, value);
      return this;
    }

    /**
     * Starts a server and returns when it answers.
     *
     * @return the server
     * @throws IllegalStateException if the program is not there, or the server does not answer
     *     within 10 s; the message holds the end of its log
     */
    public RedisServer start() {
      Path program =
          executable != null
              ? executable
              : binary
                  .find()
                  .orElseThrow(() -> new IllegalStateException("no server program: " + binary));
      RedisProcess process =
          new RedisProcess(
              program, sentinel, port, password, configLines(), Map.copyOf(environment));
      try {
        process.start();
      } catch (RuntimeException | Error e) {
        process.close();
        throw e;
      }
      return new RedisServer(password, process);
    }

    private List<String> configLines() {
      List<String> lines = new ArrayList<>(List.of("bind 127.0.0.1", "daemonize no", "save \"\""));
      if (appendOnly) {
        lines.addAll(
            List.of("appendonly yes", "appendfsync always", "auto-aof-rewrite-percentage 0"));
      }
      if (password != null) {
        lines.add("requirepass \"" + password + "\"");
      }
      lines.addAll(config);
      return lines;
    }
  }
}
