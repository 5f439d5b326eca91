package dev.lukko.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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
  private static final Pattern NETWORK =
      Pattern.compile(
          "nfs.*|cifs|smb.*|afpfs|webdav|afs|ceph|lustre|gpfs|beegfs|glusterfs|"
              + "fuse[.](sshfs|glusterfs|ceph.*|s3fs|rclone|smb.*|nfs.*)");

  private EmbeddedNode() {}

  /**
   * Opens the user's own file, and creates it if there is none.
   *
   * @see #file
   * @throws IllegalStateException if the SQLite driver is missing, the file has the tables of
   *     another version, or it is on a network file system or another one that cannot lock
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
   * <p>Where the Java platform knows no home directory, {@code HOME} is taken for it.
   *
   * @param environment the variables to look into
   * @throws IllegalStateException if the user has no home directory, and no variable says otherwise
   */
  public static Path file(Map<String, String> environment) {
    String home = System.getProperty("user.home");
    return file(environment, System.getProperty("os.name"), home);
  }

  /** The Java platform says {@code ?} for the home of a user that has no account. */
  static Path file(Map<String, String> environment, String os, @Nullable String userHome) {
    Path home = home(userHome);
    Path directory =
        stateDirectory(environment, os, home != null ? home : home(environment.get("HOME")));
    if (directory == null) {
      throw new IllegalStateException(
          "user.home is \""
              + userHome
              + "\" and HOME is \""
              + environment.get("HOME")
              + "\": this user has no home directory for the lock file; set HOME or"
              + (os.startsWith("Windows") ? " LOCALAPPDATA" : " XDG_STATE_HOME")
              + ", or name a file: EmbeddedNode.open(path)");
    }
    return directory.resolve(FILE);
  }

  private static @Nullable Path home(@Nullable String path) {
    return path == null || path.isBlank() || path.equals("?") ? null : Path.of(path);
  }

  /**
   * Opens a file, and creates it and its directories if they do not exist, for this user alone.
   *
   * @param file on a local disk, without a question mark in its path
   * @throws IllegalStateException if the SQLite driver is missing, the file has the tables of
   *     another version, or it is on a network file system or another one that cannot lock
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
      requireLocal(path, Files.getFileStore(path).type());
    } catch (IOException failure) {
      throw new UncheckedIOException("the lock file " + path + " cannot be created", failure);
    }
    return JdbcNode.builder("jdbc:sqlite:" + path)
        .name("embedded:" + path)
        .dialect(Dialect.SQLITE)
        .createSchema(true)
        .build();
  }

  /** SQLite's log is shared memory; over a network its processes do not see each other's. */
  static void requireLocal(Path path, String fileSystem) {
    if (NETWORK.matcher(fileSystem.toLowerCase(Locale.ROOT)).matches()) {
      throw new IllegalStateException(
          "the lock file "
              + path
              + " is on a network file system ("
              + fileSystem
              + "), where processes on two machines do not exclude each other; use a local disk: set"
              + " XDG_STATE_HOME, or name a file");
    }
  }

  private static void requireDriver() {
    try {
      Class.forName(DRIVER);
    } catch (ClassNotFoundException missing) {
      throw new IllegalStateException(
          "the embedded node needs org.xerial:sqlite-jdbc on the class path", missing);
    }
  }

  /** The directory; null if it would be in the home directory and there is none. */
  static @Nullable Path stateDirectory(
      Map<String, String> environment, String os, @Nullable Path home) {
    String given = environment.get(os.startsWith("Windows") ? "LOCALAPPDATA" : "XDG_STATE_HOME");
    if (given != null && !given.isEmpty() && !os.startsWith("Mac")) {
      // A relative path is invalid by the rules of XDG_STATE_HOME, and ignored.
      if (os.startsWith("Windows") || given.startsWith("/")) {
        return Path.of(given).resolve("lukko");
      }
    }
    if (home == null) {
      return null;
    }
    if (os.startsWith("Mac")) {
      return home.resolve("Library").resolve("Application Support").resolve("lukko");
    }
    return os.startsWith("Windows")
        ? home.resolve("AppData").resolve("Local").resolve("lukko")
        : home.resolve(".local").resolve("state").resolve("lukko");
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
