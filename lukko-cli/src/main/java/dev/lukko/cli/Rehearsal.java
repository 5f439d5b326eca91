package dev.lukko.cli;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.Map;

/**
 * One run on nodes and one in the file, which together load what commands need: the launcher
 * archives these classes, so that later starts are quicker.
 */
final class Rehearsal {

  private Rehearsal() {}

  /**
   * Runs both; what they print and return does not matter.
   *
   * @param args none
   */
  public static void main(String[] args) {
    LibraryLog.silence();
    Surroundings nowhere =
        new Surroundings(
            new PrintWriter(Writer.nullWriter()),
            new PrintWriter(Writer.nullWriter()),
            Map.of());
    Lukko.run(nowhere, "run", "lukko", "--", "true");
    // Nobody listens at port 1; finding that out takes the whole driver.
    Lukko.run(nowhere, "run", "--node", "redis://127.0.0.1:1", "lukko", "--", "true");
    System.exit(ExitCode.OK);
  }
}
