package dev.lukko.testkit;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds server programs: on the PATH, or in the jar that carries one for each platform. */
final class RedisBinaries {

  private static final String BUNDLED_VERSION = "7.0.15";

  private RedisBinaries() {}

  static Optional<Path> onPath(String program) {
    String path = System.getenv("PATH");
    if (path == null) {
      return Optional.empty();
    }
    for (String directory : path.split(File.pathSeparator, -1)) {
      Path candidate = Path.of(directory, program);
      if (!directory.isEmpty() && Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
        return Optional.of(candidate);
      }
    }
    return Optional.empty();
  }

  static Optional<Path> bundled() {
    return Optional.ofNullable(Bundled.PATH);
  }

  /** Extracted on first use and once per JVM. */
  private static final class Bundled {

    static final @Nullable Path PATH = extract();

    private static @Nullable Path extract() {
      String resource = "redis-server-" + BUNDLED_VERSION + "-" + platform();
      try (InputStream in = RedisBinaries.class.getClassLoader().getResourceAsStream(resource)) {
        if (in == null) {
          return null;
        }
        Path directory = Files.createTempDirectory("lukko-redis-bin-");
        Path binary = directory.resolve("redis-server");
        // deletes in reverse order of registration: the file first, then its directory
        directory.toFile().deleteOnExit();
        binary.toFile().deleteOnExit();
        Files.copy(in, binary);
        if (!binary.toFile().setExecutable(true)) {
          throw new IOException("cannot make " + binary + " executable");
        }
        return binary;
      } catch (IOException e) {
        throw new UncheckedIOException("cannot extract " + resource, e);
      }
    }

    private static String platform() {
      String os = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
      String arch = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
      String system = os.startsWith("mac") ? "darwin" : os;
      String machine =
          switch (arch) {
            case "x86_64" -> "amd64";
            case "aarch64" -> "arm64";
            case "x86", "i386", "i686" -> "386";
            default -> arch;
          };
      return system + "-" + machine;
    }
  }
}
