package dev.lukko.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A deliberate bug: a change of one source file, by replacements each of which matches exactly
 * once.
 *
 * @param name what is wrong, in a few words
 * @param file the file, below the package {@code dev.lukko}
 * @param edits what is replaced
 * @param more what is replaced in another file; null if nothing is
 */
record Mutant(String name, String file, List<Edit> edits, @Nullable Mutant more) {

  /** A piece of source and what stands in its place. */
  record Edit(String original, String replacement) {}

  /** Pairs of an original and its replacement. */
  static Mutant of(String name, String file, String... pairs) {
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < pairs.length; i += 2) {
      edits.add(new Edit(pairs[i], pairs[i + 1]));
    }
    return new Mutant(name, file, edits, null);
  }

  /** The same bug, for which another file has to change as well. */
  Mutant and(String otherFile, String... pairs) {
    return new Mutant(name, file, edits, of(name, otherFile, pairs));
  }

  /** One for each file. */
  List<Mutant> parts() {
    return more == null ? List.of(this) : List.of(this, more);
  }

  /**
   * The changed source. Runs of white space count as one blank, so that formatting is no matter.
   */
  String appliedTo(String source) {
    String changed = source;
    for (Edit edit : edits) {
      String pattern =
          "\\Q" + edit.original().strip().replaceAll("\\s+", "\\\\E\\\\s+\\\\Q") + "\\E";
      int matches = changed.split(pattern, -1).length - 1;
      if (matches != 1) {
        throw new AssertionError(
            "mutant \""
                + name
                + "\": "
                + matches
                + " matches in "
                + file
                + " for: "
                + edit.original());
      }
      changed =
          changed.replaceFirst(
              pattern, java.util.regex.Matcher.quoteReplacement(edit.replacement()));
    }
    return changed;
  }

  @Override
  public String toString() {
    return name;
  }
}
