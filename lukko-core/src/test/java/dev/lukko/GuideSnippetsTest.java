package dev.lukko;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The Java in the README and in the guides is Java that is compiled: each block follows {@code <!--
 * snippet: name -->} and stands between {@code // begin name} and {@code // end name} among the
 * tests of some module.
 */
class GuideSnippetsTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Pattern QUOTED =
      Pattern.compile("<!-- snippet: ([\\w-]+) -->\\n```java\\n(.*?)```", Pattern.DOTALL);
  private static final Pattern COMPILED =
      Pattern.compile("\\n *// begin ([\\w-]+)\\n(.*?)\\n *// end \\1\\n", Pattern.DOTALL);

  private static final Map<String, String> SNIPPETS = new HashMap<>();

  @BeforeAll
  static void readSnippets() throws IOException {
    for (Path file : files(ROOT, ".java")) {
      Matcher snippet = COMPILED.matcher(Files.readString(file));
      while (snippet.find()) {
        String before = SNIPPETS.put(snippet.group(1), snippet.group(2).stripIndent() + "\n");
        assertThat(before).as("another snippet named " + snippet.group(1)).isNull();
      }
    }
  }

  static List<Path> guides() throws IOException {
    List<Path> guides = new ArrayList<>(files(ROOT.resolve("docs"), ".md"));
    guides.add(ROOT.resolve("README.md"));
    return guides;
  }

  @ParameterizedTest
  @MethodSource("guides")
  void noJavaIsShownThatIsNotCompiled(Path guide) throws IOException {
    String text = Files.readString(guide);

    assertThat(text.split("```java", -1).length - 1)
        .as("Java blocks of %s, all of which need a snippet's name", guide.getFileName())
        .isEqualTo(quoted(guide).size());
  }

  @ParameterizedTest
  @MethodSource("guides")
  void quotedSnippetsAreTheCompiledOnes(Path guide) throws IOException {
    for (MatchResult quoted : quoted(guide)) {
      assertThat(quoted.group(2))
          .as("%s in %s", quoted.group(1), guide.getFileName())
          .isEqualTo(SNIPPETS.get(quoted.group(1)));
    }
  }

  @Test
  void everySnippetIsQuoted() throws IOException {
    List<String> names = new ArrayList<>();
    for (Path guide : guides()) {
      quoted(guide).forEach(quoted -> names.add(quoted.group(1)));
    }
    assertThat(names).containsAll(SNIPPETS.keySet()).isNotEmpty();
  }

  private static List<MatchResult> quoted(Path guide) throws IOException {
    return QUOTED.matcher(Files.readString(guide)).results().toList();
  }

  private static List<Path> files(Path directory, String ending) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(file -> file.toString().endsWith(ending))
          .filter(file -> !ending.equals(".java") || file.toString().contains("/src/test/"))
          .sorted()
          .toList();
    }
  }
}
