package dev.lukko.testkit.sim;

import dev.lukko.testkit.sim.MutantLab.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The table of the mutants in the docs, between two marks. */
final class MutantsPage {
  private static final Path FILE = Path.of("..", "docs", "internals", "mutants.md");
  private static final String BEGIN = "<!-- begin table -->\n";
  private static final String END = "<!-- end table -->";

  private MutantsPage() {}

  static String read() throws IOException {
    return Files.readString(FILE);
  }

  static void write(List<Verdict> verdicts) throws IOException {
    StringBuilder table = new StringBuilder();
    table.append("| deliberate bug | in | histories to the first kill | killed by |\n");
    table.append("|---|---|---|---|\n");
    for (Verdict verdict : verdicts) {
      String file = verdict.mutant().file();
      table
          .append("| ")
          .append(verdict.mutant().name())
          .append(" | `")
          .append(file, file.indexOf('/') + 1, file.lastIndexOf('.'))
          .append("` | ")
          .append(verdict.survived() ? "**survived**" : verdict.histories())
          .append(" | ")
          .append(verdict.check())
          .append(" |\n");
    }
    String page = read();
    Files.writeString(
        FILE,
        page.substring(0, page.indexOf(BEGIN) + BEGIN.length())
            + table
            + page.substring(page.indexOf(END)));
  }
}
