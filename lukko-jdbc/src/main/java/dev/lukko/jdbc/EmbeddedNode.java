package dev.lukko.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Objects;

/**
 * A lock node without a server: a SQLite file in the user's state directory, for the processes of
 * one user on one machine.
 *
 * <p>The processes exclude each other; one that dies holds its lock until the ttl is over; tokens
 * rise over restarts of the machine. Expiry is judged by the machine's wall clock. The file must be
 * on a local disk: network file systems do not lock reliably.
 *
 * <p>Needs {@code org.xerial:sqlite-jdbc} at run time.
 */
public final class EmbeddedNode {
  private static final String FILE = "locks.db";
  private static final String DRIVER = "org.sqlite.JDBC";

  private EmbeddedNode() {}

  /**
   * Opens the user's own file, and creates it if there is none.
   *
   * @see #file
   * @throws IllegalStateException if the SQLite driver is missing, or the file has the tables of
   *     another version
   * @throws UncheckedIOException if the file cannot be created
   */
  public static JdbcNode open() {
    return open(file(System.getenv()));
  }

  /**
   * The user's own file: {@code locks.db} in {@code $XDG_STATE_HOME/lukko} or {@code
   * ~/.local/state/lukko}, on macOS in {@code ~/Library/Application Support/lukko}, on Windows in
   * {@code %LOCALAPPDATA%\lukko}. No I/O; the file need not exist.
   *
   * @param environment the variables to look into
   */
  public static Path file(Map<String, String> environment) {
    Path home = Path.of(System.getProperty("user.home"));
    return stateDirectory(environment, System.getProperty("os.name"), home).resolve(FILE);
  }

  /**
   * Opens a file, and creates it and its directories if they do not exist, for this user alone.
   *
   * @param file on a local disk, without a question mark in its path
   * @throws IllegalStateException if the SQLite driver is missing, or the file has the tables of
   *     another version
   * @throws UncheckedIOException if the file cannot be created
   */
  public static JdbcNode open(Path file) {
    Objects.requireNonNull(file, "file");
    Path path = file.toAbsolutePath().normalize();
    if (path.toString().contains("?")) {
      throw new IllegalArgumentException(
          "file is " + path + "; the driver takes a question mark for the end of the name");
    }
    requireDriver();
    try {
      createPrivately(path);
    } catch (IOException failure) {
      throw new UncheckedIOException("the lock file " + path + " cannot be created", failure);
    }
    return JdbcNode.builder("jdbc:sqlite:" + path)
        .name("embedded:" + path)
        .dialect(Dialect.SQLITE)
        .createSchema(true)
        .build();
  }

  private static void requireDriver() {
    try {
      Class.forName(DRIVER);
    } catch (ClassNotFoundException missing) {
      throw new IllegalStateException(
          "the embedded node needs org.xerial:sqlite-jdbc on the class path", missing);
    }
  }

  static Path stateDirectory(Map<String, String> environment, String os, Path home) {
    if (os.startsWith("Mac")) {
      return home.resolve("Library").resolve("Application Support").resolve("lukko");
    }
    if (os.startsWith("Windows")) {
      String local = environment.get("LOCALAPPDATA");
      Path base =
          local == null || local.isEmpty()
              ? home.resolve("AppData").resolve("Local")
              : Path.of(local);
      return base.resolve("lukko");
    }
    String state = environment.get("XDG_STATE_HOME");
    // A relative path is invalid by the rules of that variable, and ignored.
    Path base =
        state == null || !state.startsWith("/")
            ? home.resolve(".local").resolve("state")
            : Path.of(state);
    return base.resolve("lukko");
  }

  /** SQLite gives its side files the permissions of the main one, so that one is made first. */
  private static void createPrivately(Path path) throws IOException {
    Path directory = path.getParent();
    if (directory != null) {
      Files.createDirectories(directory, privately("rwx------"));
    }
    try {
      Files.createFile(path, privately("rw-------"));
    } catch (FileAlreadyExistsException opened) {
      // Any process may be the first one.
    }
  }

  private static FileAttribute<?>[] privately(String permissions) {
    if (!FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
      return new FileAttribute<?>[0];
    }
    return new FileAttribute<?>[] {
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
    };
  }
}
