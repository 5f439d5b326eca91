package dev.lukko;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The page on errors has every error that a user can meet, and every reason of a loss. */
class ErrorsPageTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Pattern PUBLIC_ERROR =
      Pattern.compile("public (?:final |abstract )*class (\\w+) extends \\w*Exception");

  private static String page = "";

  @BeforeAll
  static void readPage() throws IOException {
    page = Files.readString(ROOT.resolve("docs/operating/errors.md"));
  }

  @Test
  void everyPublicErrorOfEveryModuleIsExplained() throws IOException {
    List<String> errors;
    try (Stream<Path> files = Files.walk(ROOT)) {
      errors =
          files
              .filter(file -> file.toString().endsWith("Exception.java"))
              .filter(file -> file.toString().contains("/src/main/"))
              .filter(file -> !file.toString().contains("/lukko-cli/"))
              .filter(file -> !file.toString().contains("/lukko-testkit/"))
              .flatMap(ErrorsPageTest::declared)
              .toList();
    }

    assertThat(errors).contains("LeaseLostException", "StaleTokenException");
    assertThat(errors).allSatisfy(error -> assertThat(page).contains("`" + error + "`"));
  }

  @Test
  void everyReasonOfALossIsExplained() {
    assertThat(Arrays.stream(LossReason.values()).map(Enum::name))
        .allSatisfy(reason -> assertThat(page).contains("`" + reason + "`"));
  }

  private static Stream<String> declared(Path file) {
    try {
      return PUBLIC_ERROR.matcher(Files.readString(file)).results().map(found -> found.group(1));
    } catch (IOException unreadable) {
      throw new java.io.UncheckedIOException(unreadable);
    }
  }
}
