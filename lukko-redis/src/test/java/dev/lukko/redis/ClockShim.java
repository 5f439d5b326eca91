package dev.lukko.redis;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServer.Binary;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Wall clocks of servers that a test can set: a library that is compiled here and preloaded by the
 * servers. Where there is no C compiler, or no server that takes a preloaded library, the test is
 * skipped and says which. The bundled server does not: it is linked statically.
 */
final class ClockShim {
  private static final Duration COMPILE_TIMEOUT = Duration.ofSeconds(60);

  private final Path directory;
  private final Path library;
  private final Path program;
  private final Binary binary;
  private final List<Path> offsets = new ArrayList<>();

  private ClockShim(Path directory, Path library, Binary binary, Path program) {
    this.directory = directory;
    this.library = library;
    this.binary = binary;
    this.program = program;
  }

  /** Compiles the library into a folder, or skips the test. */
  static ClockShim compile(Path directory) {
    Optional<Binary> binary =
        Stream.of(Binary.REDIS_ON_PATH, Binary.VALKEY_ON_PATH)
            .filter(each -> each.find().isPresent())
            .findFirst();
    assumeTrue(
        binary.isPresent(),
        "no redis-server or valkey-server on the PATH: the bundled server is linked statically and"
            + " takes no preloaded clock");
    try (InputStream source = ClockShim.class.getResourceAsStream("clock-shim.c")) {
      Path file = directory.resolve("clock-shim.c");
      Files.copy(
          java.util.Objects.requireNonNull(source), file, StandardCopyOption.REPLACE_EXISTING);
      Path library = directory.resolve("libclock-shim.so");
      run(directory, "cc", "-shared", "-fPIC", "-O2", "-o", library.toString(), file.toString());
      return new ClockShim(directory, library, binary.get(), binary.get().find().orElseThrow());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void run(Path directory, String... command) throws IOException {
    Process compiler;
    try {
      compiler =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("cc.log").toFile())
              .start();
    } catch (IOException noSuchProgram) {
      abort("no C compiler: " + noSuchProgram.getMessage());
      return;
    }
    try {
      if (!compiler.waitFor(COMPILE_TIMEOUT.toSeconds(), TimeUnit.SECONDS)
          || compiler.exitValue() != 0) {
        throw new AssertionError(Files.readString(directory.resolve("cc.log")));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    } finally {
      compiler.destroyForcibly();
    }
  }

  /** Gives the next server a clock of its own, which goes right at first. */
  void preload(RedisServer.Builder server) {
    Path offset = directory.resolve("offset-" + offsets.size());
    offsets.add(offset);
    write(offset, 0);
    server
        .executable(program)
        .environment("LD_PRELOAD", library.toString())
        .environment("LUKKO_CLOCK_OFFSET", offset.toString());
  }

  /** Sets a clock to the true time plus something. */
  void set(int server, Duration offset) {
    write(offsets.get(server), offset.toNanos() / 1_000);
  }

  /** Skips the test if the servers do not look at the clock that they were given. */
  void assumeThatItWorks(RedisServer server) {
    long before = seconds(server);
    set(0, Duration.ofHours(1));
    long after = seconds(server);
    set(0, Duration.ZERO);
    assumeTrue(after - before > 3_000, binary + " does not take the preloaded clock");
  }

  private static long seconds(RedisServer server) {
    List<?> time = (List<?>) java.util.Objects.requireNonNull(server.command("TIME"));
    return Long.parseLong(String.valueOf(time.get(0)));
  }

  /** In place: the server has the file mapped. */
  private static void write(Path file, long micros) {
    ByteBuffer bytes = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(micros);
    try {
      Files.write(file, bytes.array(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
