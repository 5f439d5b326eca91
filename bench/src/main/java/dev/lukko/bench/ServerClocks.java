package dev.lukko.bench;

import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServer.Binary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Wall clocks that can be set, for servers that are linked dynamically: a small library, compiled
 * here and preloaded by the server. There may be none: without a C compiler or such a server.
 */
public final class ServerClocks {
  private static final String CARRIED = "redis-server-6.2.6-v5-linux-amd64";
  private static final long COMPILE_SECONDS = 60;

  private final Path directory;
  private final Path library;
  private final Path program;

  private ServerClocks(Path directory, Path library, Path program) {
    this.directory = directory;
    this.library = library;
    this.program = program;
  }

  /** The clock of one server. */
  public record Clock(Path file) {
    /** Sets the clock to the true time plus something, in place: the server maps the file. */
    public void set(Duration offset) {
      ByteBuffer bytes =
          ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(offset.toNanos() / 1_000);
      try {
        Files.write(file, bytes.array(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }
  }

  /** Prepares the library, or says in one line of the log why there are no such clocks. */
  public static Optional<ServerClocks> prepare(
      Path directory, java.util.function.Consumer<String> log)
      throws IOException, InterruptedException {
    Optional<Path> program = program(directory);
    if (program.isEmpty()) {
      log.accept("clocks of servers stay right: no redis-server that is linked dynamically");
      return Optional.empty();
    }
    Path source = directory.resolve("clock-shim.c");
    try (InputStream in = ServerClocks.class.getResourceAsStream("/dev/lukko/redis/clock-shim.c")) {
      Files.copy(java.util.Objects.requireNonNull(in), source);
    }
    Path library = directory.resolve("libclock-shim.so");
    if (!runs(
        directory, "cc", "-shared", "-fPIC", "-O2", "-o", library.toString(), source.toString())) {
      log.accept("clocks of servers stay right: no C compiler");
      return Optional.empty();
    }
    ServerClocks clocks = new ServerClocks(directory, library, program.get());
    if (!clocks.work()) {
      log.accept("clocks of servers stay right: " + program.get() + " takes no preloaded clock");
      return Optional.empty();
    }
    return Optional.of(clocks);
  }

  /** Gives the next server that is built a clock of its own, which goes right at first. */
  public Clock give(RedisServer.Builder server, String name) {
    Clock clock = new Clock(directory.resolve("clock-" + name));
    clock.set(Duration.ZERO);
    server
        .executable(program)
        .environment("LD_PRELOAD", library.toString())
        .environment("LUKKO_CLOCK_OFFSET", clock.file().toString());
    return clock;
  }

  private boolean work() {
    RedisServer.Builder builder = RedisServer.builder();
    Clock clock = give(builder, "trial");
    try (RedisServer server = builder.start()) {
      long before = seconds(server);
      clock.set(Duration.ofHours(1));
      return seconds(server) - before > 3_000;
    }
  }

  private static long seconds(RedisServer server) {
    java.util.List<?> time =
        (java.util.List<?>) java.util.Objects.requireNonNull(server.command("TIME"));
    return Long.parseLong(String.valueOf(time.get(0)));
  }

  /** One on the PATH, or the one that a jar brings for this platform; none that does not start. */
  private static Optional<Path> program(Path directory) throws IOException, InterruptedException {
    Optional<Path> onPath =
        Stream.of(Binary.REDIS_ON_PATH, Binary.VALKEY_ON_PATH)
            .flatMap(each -> each.find().stream())
            .findFirst();
    if (onPath.isPresent()) {
      return onPath;
    }
    String platform =
        (System.getProperty("os.name") + "-" + System.getProperty("os.arch"))
            .toLowerCase(Locale.ROOT);
    if (!platform.equals("linux-amd64")) {
      return Optional.empty();
    }
    try (InputStream in = ServerClocks.class.getResourceAsStream("/" + CARRIED)) {
      if (in == null) {
        return Optional.empty();
      }
      Path program = directory.resolve("redis-server");
      Files.copy(in, program, StandardCopyOption.REPLACE_EXISTING);
      boolean starts =
          program.toFile().setExecutable(true) && runs(directory, program.toString(), "--version");
      return starts ? Optional.of(program) : Optional.empty();
    }
  }

  private static boolean runs(Path directory, String... command) throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("command.log").toFile())
              .start();
      boolean ended = process.waitFor(COMPILE_SECONDS, TimeUnit.SECONDS);
      process.destroyForcibly();
      return ended && process.exitValue() == 0;
    } catch (IOException noSuchProgram) {
      return false;
    }
  }
}
