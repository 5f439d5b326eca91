package dev.lukko.spec;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The model and its configurations, as they lie in the source tree. */
final class Configurations {
  /** Where Maven starts the tests of a module: its own folder. */
  static final Path MODULE = Path.of("").toAbsolutePath();

  private static final Path FOLDER = MODULE.resolve("src/main/tla");
  private static final String SUFFIX = ".cfg";
  private static final Pattern INVARIANTS = Pattern.compile("^INVARIANTS (.+)$", Pattern.MULTILINE);

  private Configurations() {}

  static Path model() {
    return FOLDER.resolve("LockToken.tla");
  }

  static Path file(String name) {
    return FOLDER.resolve(name + SUFFIX);
  }

  /** The names of all configurations in a folder, such as {@code broken/increment-duplicate}. */
  static List<String> in(String folder) {
    try (Stream<Path> files = Files.list(FOLDER.resolve(folder))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith(SUFFIX))
          .map(file -> folder + "/" + file.substring(0, file.length() - SUFFIX.length()))
          .sorted()
          .toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** The one invariant that a configuration of a short cut checks. */
  static String onlyInvariantOf(String name) {
    try {
      Matcher invariants = INVARIANTS.matcher(Files.readString(file(name)));
      if (!invariants.find() || invariants.group(1).contains(" ")) {
        throw new IllegalStateException(name + " must check exactly one invariant");
      }
      return invariants.group(1);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
