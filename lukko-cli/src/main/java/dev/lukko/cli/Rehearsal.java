package dev.lukko.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * One run on nodes and one in the file, which together load what commands need: the launcher
 * archives these classes, so that later starts are quicker, and keeps the native library of SQLite,
 * so that they need no temporary folder from which a library may be loaded.
 */
final class Rehearsal {

  private static final String LIBRARY = "*-libsqlitejdbc.{so,dylib,jnilib}";

  private Rehearsal() {}

  /**
   * Runs both; what they print and return does not matter.
   *
   * @param args the folder for the native library
   */
  public static void main(String[] args) throws IOException {
    LibraryLog.silence();
    Surroundings nowhere =
        new Surroundings(
            new PrintWriter(Writer.nullWriter()), new PrintWriter(Writer.nullWriter()), Map.of());
    Lukko.run(nowhere, "run", "lukko", "--", "true");
    // Nobody listens at port 1; finding that out takes the whole driver.
    Lukko.run(nowhere, "run", "--node", "redis://127.0.0.1:1", "lukko", "--", "true");
    keepLibrary(Path.of(System.getProperty("org.sqlite.tmpdir")), Path.of(args[0]));
    System.exit(ExitCode.OK);
  }

  /** The driver has unpacked it, and deletes it when this JVM ends. */
  private static void keepLibrary(Path unpacked, Path kept) throws IOException {
    try (DirectoryStream<Path> libraries = Files.newDirectoryStream(unpacked, LIBRARY)) {
      for (Path library : libraries) {
        String name = library.getFileName().toString();
        Files.copy(library, kept.resolve(name.substring(name.lastIndexOf('-') + 1)));
      }
    }
  }
}
