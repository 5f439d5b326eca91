package dev.lukko.spec;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The page of the proofs, with a place for the counterexample of each configuration between two
 * marks.
 */
final class ProofsPage {
  private static final Path FILE =
      Configurations.MODULE.getParent().resolve("docs/internals/protocol-proofs.md");

  private ProofsPage() {}

  /** What stands between the marks of a configuration. */
  static String counterexampleOf(String configuration) {
    String page = read();
    return page.substring(begin(page, configuration), end(page, configuration)).strip();
  }

  static void write(String configuration, String counterexample) {
    String page = read();
    String changed =
        page.substring(0, begin(page, configuration))
            + "\n"
            + counterexample
            + "\n"
            + page.substring(end(page, configuration));
    try {
      Files.writeString(FILE, changed);
    } catch (IOException unwritable) {
      throw new UncheckedIOException(unwritable);
    }
  }

  private static String read() {
    try {
      return Files.readString(FILE);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static int begin(String page, String configuration) {
    String mark = "<!-- begin " + configuration + " -->";
    return indexOf(page, mark) + mark.length();
  }

  private static int end(String page, String configuration) {
    return indexOf(page, "<!-- end " + configuration + " -->");
  }

  private static int indexOf(String page, String mark) {
    int index = page.indexOf(mark);
    if (index < 0) {
      throw new IllegalStateException(FILE.getFileName() + " has no line " + mark);
    }
    return index;
  }
}
