package dev.lukko.spec.epr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.lukko.spec.epr.Model.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The page that explains the proofs: its drawings are of the runs, and each conjunct is on it. */
class RunDrawingTest {
  private static final Path FOLDER =
      Path.of("").toAbsolutePath().getParent().resolve("docs/internals");
  private static final Path PAGE = FOLDER.resolve("proofs-explained.md");
  private static final Pattern DRAWING = Pattern.compile("\\(runs/([a-z-]+)\\.svg\\)");

  @TestFactory
  Stream<DynamicTest> drawingIsOfTheRunAsItIs() throws IOException {
    return DRAWING
        .matcher(Files.readString(PAGE))
        .results()
        .map(drawing -> drawing.group(1))
        .map(name -> dynamicTest(name, () -> assertCurrent(name)));
  }

  private static void assertCurrent(String name) throws IOException {
    // Another solver may choose other numbers for the same run.
    assumeTrue(Z3.origin().startsWith("Z3 4.14.1") && Z3.origin().endsWith("library"));
    Model model = tokens();
    Run run =
        model.runs().stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    String drawn = RunDrawing.svg(Models.read(model, run.possible().get(0)), run);
    Path file = FOLDER.resolve("runs/" + name + ".svg");
    if (Boolean.getBoolean("lukko.spec.write")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, drawn);
    }
    assertThat(Files.readString(file)).isEqualTo(drawn);
  }

  @Test
  void eachConjunctIsExplained() throws IOException {
    String page = Files.readString(PAGE);

    assertThat(tokens().conjuncts())
        .allSatisfy(conjunct -> assertThat(page).contains("| `" + conjunct.name() + "` |"));
  }

  private static Model tokens() {
    return Models.all().stream()
        .filter(model -> model.name().equals("exclusive-tokens"))
        .findFirst()
        .orElseThrow();
  }
}
