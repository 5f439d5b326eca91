package dev.lukko.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Shows fleets, and changes their sets of nodes. */
@Command(
    name = "fleet",
    header = "Shows which nodes decide together, and changes the set of them.",
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    footer = {
      "",
      "Examples:",
      "  lukko fleet show --node redis://a --node redis://b --node redis://c",
      "  lukko fleet change --node redis://a --node redis://b --node redis://c \\",
      "      --to redis://a --to redis://b --to redis://d",
      "",
      "'lukko fleet COMMAND --help' tells all about a command."
    })
final class FleetCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  FleetCommand() {}

  /** Without a command there is nothing to do: says which there are. */
  @Override
  public Integer call() {
    PrintWriter err = spec.commandLine().getErr();
    err.println("lukko: no command; these are there");
    err.println();
    spec.commandLine().usage(err);
    return ExitCode.USAGE;
  }
}
