package dev.lukko.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Formatter;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The variables of a process whose names are none for a shell, such as {@code
 * spring.profiles.active}: some shells do not pass them on.
 */
final class OddVariables {

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*=", Pattern.DOTALL);

  private OddVariables() {}

  /**
   * Those that a process was started with, in octal for {@code printf %b}; none where it cannot be
   * seen.
   */
  static List<String> of(long pid) {
    try {
      // One character for each byte.
      String all =
          Files.readString(
              Path.of("/proc", Long.toString(pid), "environ"), StandardCharsets.ISO_8859_1);
      return Stream.of(all.split("\0"))
          .filter(variable -> variable.indexOf('=') > 0 && !PLAIN.matcher(variable).lookingAt())
          .map(OddVariables::octal)
          .toList();
    } catch (IOException noProc) {
      return List.of();
    }
  }

  private static String octal(String bytes) {
    try (Formatter octal = new Formatter()) {
      bytes.chars().forEach(value -> octal.format("\\0%03o", value));
      return octal.toString();
    }
  }
}
