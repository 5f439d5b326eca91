package dev.lukko.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Makes the lock file small again. */
@Command(
    name = "purge",
    header = "Deletes old names from the lock file of this machine.",
    description = {
      "",
      "Deletes the names that nobody has held for a week, and gives their space back to the disk."
          + " Locks that are held stay, and tokens go on to rise. Servers do the same by"
          + " themselves.",
      ""
    },
    sortOptions = false,
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "64:the command line is wrong; nothing was done",
      "69:the lock file could not be used"
    },
    footer = {"", "Examples:", "  lukko purge"})
final class PurgeCommand implements Callable<Integer> {

  private final Surroundings surroundings;

  PurgeCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    surroundings.out().println(EmbeddedFile.of(surroundings.environment()).purge());
    return ExitCode.OK;
  }
}
