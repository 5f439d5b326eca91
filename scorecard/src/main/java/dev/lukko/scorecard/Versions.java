package dev.lukko.scorecard;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.Properties;

/** The versions of the libraries, as the build has them. */
final class Versions {
  private static final Properties VERSIONS = read();

  private Versions() {}

  private static Properties read() {
    Properties versions = new Properties();
    try (InputStream in = Versions.class.getResourceAsStream("versions.properties")) {
      versions.load(Objects.requireNonNull(in));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return versions;
  }

  static String of(Library library) {
    return library.isNode()
        ? NodeModules.REDLOCK + " (ioredis " + NodeModules.IOREDIS + ")"
        : Objects.requireNonNull(VERSIONS.getProperty(library.versionKey()));
  }

  /** What lies below the libraries. */
  static String below() {
    return "Lettuce "
        + VERSIONS.getProperty("lettuce")
        + ", Spring Data Redis "
        + VERSIONS.getProperty("spring-data-redis")
        + ", Netty "
        + VERSIONS.getProperty("netty")
        + ", HikariCP "
        + VERSIONS.getProperty("hikari");
  }
}
