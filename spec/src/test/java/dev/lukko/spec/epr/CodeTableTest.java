package dev.lukko.spec.epr;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page's table of the models and the code is complete, and what it names exists. */
class CodeTableTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Pattern PAIR = Pattern.compile("`([^`]+)`: `([^`]+)`");
  private static final Pattern NAME = Pattern.compile("`(\\w+)`");

  /** The models of what is built. The others are of what is planned. */
  private static final List<String> BUILT =
      List.of(
          "exclusive-tokens",
          "shared-tokens",
          "exclusion",
          "exclusion-shared",
          "exclusion-quarantine",
          "tokens-quarantine",
          "tokens-recovery",
          "membership-change");

  @Test
  void eachRequirementOfAModelHasARowAndNoOtherThingHas() {
    Set<String> inModels =
        Models.all().stream()
            .filter(model -> BUILT.contains(model.name()))
            .flatMap(model -> model.actions().stream())
            .flatMap(
                action ->
                    action.requirements().keySet().stream().map(it -> action.name() + ": " + it))
            .collect(Collectors.toCollection(TreeSet::new));

    Set<String> inTable =
        rows().stream()
            .flatMap(row -> pairs(row.get(0)))
            .map(pair -> pair.group(1) + ": " + pair.group(2))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(inTable).isEqualTo(inModels);
  }

  @Test
  void eachPlaceInTheCodeExists() {
    List<String> missing =
        rows().stream()
            .flatMap(row -> pairs(row.get(1)))
            .filter(pair -> !sources(pair.group(1)).contains(pair.group(2)))
            .map(pair -> pair.group(1) + ": " + pair.group(2))
            .toList();

    assertThat(missing).isEmpty();
  }

  @Test
  void eachRuleAndEachBrokenNodeExists() {
    String contract = texts("lukko-testkit/src/main/java/dev/lukko/testkit/contract");
    String broken = texts("lukko-testkit/src/test/java/dev/lukko/testkit/contract");
    List<String> missing =
        rows().stream()
            .flatMap(row -> NAME.matcher(row.get(2)).results())
            .map(name -> name.group(1))
            .filter(
                name ->
                    name.startsWith("should")
                        ? !contract.contains("void " + name + "(")
                        : !broken.contains("static class " + name + " ")
                            || !broken.contains("." + name + ".class"))
            .toList();

    assertThat(missing).isEmpty();
  }

  private static Stream<MatchResult> pairs(String cell) {
    return PAIR.matcher(cell).results();
  }

  /** The cells of the table's rows, without its head. */
  private static List<List<String>> rows() {
    String page = read(ROOT.resolve("docs/internals/protocol-proofs.md"));
    String table =
        page.substring(page.indexOf("<!-- begin code -->"), page.indexOf("<!-- end code -->"));
    List<List<String>> rows = new ArrayList<>();
    table
        .lines()
        .filter(line -> line.startsWith("| `"))
        .forEach(line -> rows.add(List.of(line.substring(1).split(" \\| ?"))));
    assertThat(rows).hasSizeGreaterThan(20).allSatisfy(row -> assertThat(row).hasSize(3));
    return rows;
  }

  /** What the files of a name say that are part of what is built, in any module. */
  private static String sources(String file) {
    return filesIn(ROOT)
        .filter(path -> path.getFileName().toString().equals(file))
        .map(CodeTableTest::read)
        .collect(Collectors.joining("\n"));
  }

  private static Stream<Path> filesIn(Path root) {
    try (Stream<Path> modules = Files.list(root)) {
      return modules
          .map(module -> module.resolve("src/main"))
          .filter(Files::isDirectory)
          .flatMap(CodeTableTest::walk)
          .toList()
          .stream();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static Stream<Path> walk(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).toList().stream();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static String texts(String folder) {
    return walk(ROOT.resolve(folder)).map(CodeTableTest::read).collect(Collectors.joining("\n"));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
