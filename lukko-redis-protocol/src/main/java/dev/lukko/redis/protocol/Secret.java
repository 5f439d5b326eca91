package dev.lukko.redis.protocol;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Where a password comes from: it is read anew for each connection, and never shown.
 *
 * <p>Immutable.
 */
public final class Secret {
  private static final int MAX_LENGTH = 64 * 1024;

  private final String source;
  private final Source reader;

  /** Reads the password. */
  private interface Source {
    @Nullable String read() throws IOException;
  }

  private Secret(String source, Source reader) {
    this.source = source;
    this.reader = reader;
  }

  public static Secret text(String password) {
    return new Secret("given as a text", () -> password);
  }

  /** The content of a file, without the line break at its end. */
  public static Secret file(Path file) {
    return new Secret(
        "file " + file,
        () -> {
          if (Files.size(file) > MAX_LENGTH) {
            throw new IOException("longer than " + MAX_LENGTH + " bytes");
          }
          return Files.readString(file).replaceFirst("\r?\n\\z", "");
        });
  }

  /** A variable of the environment. */
  public static Secret variable(String name, Function<String, @Nullable String> environment) {
    return new Secret("variable " + name, () -> environment.apply(name));
  }

  /**
   * The password as it is now.
   *
   * @throws IllegalStateException if there is none; names the source only
   */
  public String read() {
    String password;
    try {
      password = reader.read();
    } catch (IOException | RuntimeException unreadable) {
      // the cause of a decoding error could hold a part of the text
      throw new IllegalStateException(
          "password (" + source + ") cannot be read: " + unreadable.getClass().getSimpleName());
    }
    if (password == null || password.isEmpty()) {
      throw new IllegalStateException(
          "password (" + source + ") is " + (password == null ? "not set" : "empty"));
    }
    return password;
  }

  /**
   * Reads it once, so that a wrong source is refused at the start.
   *
   * @throws IllegalArgumentException if there is none
   */
  public Secret checked() {
    try {
      read();
    } catch (IllegalStateException missing) {
      throw new IllegalArgumentException(missing.getMessage() + "; there must be one");
    }
    return this;
  }

  @Override
  public String toString() {
    return "Secret[" + source + "]";
  }
}
