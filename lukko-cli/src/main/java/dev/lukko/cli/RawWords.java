package dev.lukko.cli;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The words of the command line as the bytes they were. Java reads them by the locale, and where
 * that says nothing, as in cron, every letter beyond ASCII becomes the same one: two names would be
 * one lock.
 */
final class RawWords {

  /** What stands for bytes that are not UTF-8. */
  static final char REPLACEMENT = '\uFFFD';

  private static final Path OWN_WORDS = Path.of("/proc/self/cmdline");

  private RawWords() {}

  /**
   * The words as UTF-8, with {@link #REPLACEMENT} for what is none; as given where they cannot be
   * had.
   */
  static String[] of(String[] args) {
    try {
      return of(args, Files.readAllBytes(OWN_WORDS));
    } catch (IOException noProc) {
      return args; // macOS, where Java reads UTF-8 whatever the locale says
    }
  }

  static String[] of(String[] args, byte[] commandLine) {
    List<String> words = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < commandLine.length; i++) {
      if (commandLine[i] == 0) {
        words.add(new String(commandLine, start, i - start, StandardCharsets.UTF_8));
        start = i + 1;
      }
    }
    return words.size() < args.length
        ? args
        : words.subList(words.size() - args.length, words.size()).toArray(String[]::new);
  }

  /**
   * Refuses a name that was not given as UTF-8.
   *
   * @throws UsageException if it was not
   */
  static void checkName(String resource) {
    if (resource.indexOf(REPLACEMENT) >= 0) {
      throw new UsageException(
          "the resource '" + resource + "' is not UTF-8; names of locks are, in every locale");
    }
  }

  /**
   * Refuses words that Java alone cannot hand to a process as they were: it writes them by the
   * locale.
   *
   * @throws UsageException if one of them cannot be
   */
  static void checkCommand(List<String> command) {
    Charset charset =
        Charset.forName(System.getProperty("sun.jnu.encoding", Charset.defaultCharset().name()));
    for (String word : command) {
      if (word.indexOf(REPLACEMENT) >= 0 || !charset.newEncoder().canEncode(word)) {
        throw new UsageException(
            "'"
                + word
                + "' cannot be given to the command in this locale; start it by ./lukko, or"
                + " set LC_ALL to one with UTF-8");
      }
    }
  }
}
