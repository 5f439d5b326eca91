package dev.lukko.cli.wrapper;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * The command as it is installed: a checkout that was built, from the classes of this build. Made
 * once.
 */
final class Installation {

  private static final Path CHECKOUT = Path.of("").toAbsolutePath().getParent();
  private static final Path SCRIPTS = Path.of("lukko-cli", "src", "main", "sh");

  private static final class Once {
    static final Path SCRIPT = make();
  }

  private Installation() {}

  /** The script {@code lukko} of the installation. */
  static Path script() {
    return Once.SCRIPT;
  }

  private static Path make() {
    try {
      Path home = Files.createTempDirectory("lukko-installed");
      // Also for the users to whom tests change.
      Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwxr-xr-x"));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(home)));
      Path script =
          Files.copy(
              CHECKOUT.resolve("lukko"), home.resolve("lukko"), StandardCopyOption.COPY_ATTRIBUTES);
      Path scripts = Files.createDirectories(home.resolve(SCRIPTS));
      try (Stream<Path> sources = Files.list(CHECKOUT.resolve(SCRIPTS))) {
        for (Path source : sources.toList()) {
          Files.copy(source, scripts.resolve(source.getFileName()));
        }
      }
      Path target = home.resolve("lukko-cli").resolve("target");
      Path lib = Files.createDirectories(target.resolve("lib"));
      Files.createDirectories(target.resolve("lib-demo"));
      List<String> others = new ArrayList<>();
      for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
        Path path = Path.of(entry).toAbsolutePath();
        if (Files.isRegularFile(path)) {
          Files.copy(path, lib.resolve(path.getFileName()));
        } else if (path.endsWith(Path.of("lukko-cli", "target", "classes"))) {
          jar(path, target.resolve("lukko-cli-test.jar"));
        } else if (path.endsWith("classes")) {
          jar(path, lib.resolve(path.getParent().getParent().getFileName() + ".jar"));
        } else {
          others.add(entry); // test classes
        }
      }
      if (others.size() > 2) {
        throw new IllegalStateException("not known on the class path: " + others);
      }
      Files.createFile(target.resolve("launcher.stamp"));
      return script;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void jar(Path classes, Path jar) throws IOException {
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file);
        Stream<Path> files = Files.walk(classes)) {
      for (Path path : files.filter(Files::isRegularFile).toList()) {
        out.putNextEntry(new JarEntry(classes.relativize(path).toString()));
        Files.copy(path, out);
      }
    }
  }

  private static void delete(Path home) {
    try (Stream<Path> files = Files.walk(home)) {
      for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
