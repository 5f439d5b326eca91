package dev.lukko.scorecard;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The client for Node.js: its packages are fetched by npm on first use, if it is there. */
final class NodeModules {
  static final String REDLOCK = "5.0.0-beta.2";
  static final String IOREDIS = "5.11.1";

  private static final long INSTALL_SECONDS = 120;

  private final Path program;

  private NodeModules(Path program) {
    this.program = program;
  }

  List<String> command() {
    return List.of("node", program.toString());
  }

  /** Empty where Node.js, npm or the registry are out of reach. */
  static Optional<NodeModules> prepare(Path directory) throws InterruptedException {
    try {
      Path program = directory.resolve("node-redlock.mjs");
      try (InputStream in = NodeModules.class.getResourceAsStream("node-redlock.mjs")) {
        Files.copy(Objects.requireNonNull(in), program, StandardCopyOption.REPLACE_EXISTING);
      }
      Files.writeString(
          directory.resolve("package.json"),
          "{\"private\":true,\"dependencies\":{\"redlock\":\"%s\",\"ioredis\":\"%s\"}}"
              .formatted(REDLOCK, IOREDIS));
      Process npm =
          new ProcessBuilder("npm", "install", "--no-audit", "--no-fund", "--loglevel=error")
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("npm.log").toFile())
              .start();
      boolean ended = npm.waitFor(INSTALL_SECONDS, TimeUnit.SECONDS);
      npm.destroyForcibly();
      return ended && npm.exitValue() == 0
          ? Optional.of(new NodeModules(program))
          : Optional.empty();
    } catch (IOException noNpm) {
      return Optional.empty();
    }
  }
}
