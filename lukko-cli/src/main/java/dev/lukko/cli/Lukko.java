package dev.lukko.cli;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.HelpCommand;

/** The {@code lukko} command: entry point and root of its subcommands. */
@Command(
    name = "lukko",
    header = "Takes, shows and tests distributed locks.",
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    footer = {
      "",
      "Examples:",
      "  lukko demo",
      "  lukko run --node redis://localhost:6379 nightly -- ./backup.sh",
      "  lukko status --node redis://localhost:6379 nightly",
      "",
      "'lukko COMMAND --help' tells all about a command."
    })
public final class Lukko {

  Lukko() {}

  /**
   * Runs the command and ends the JVM with its exit code.
   *
   * @param args the words of the command line
   */
  public static void main(String[] args) {
    LibraryLog.silence();
    Surroundings surroundings =
        new Surroundings(
            new PrintWriter(System.out, true, Charset.defaultCharset()),
            new PrintWriter(System.err, true, Charset.defaultCharset()),
            System.getenv());
    System.exit(run(surroundings, args));
  }

  /** Runs the command inside this JVM and returns its exit code. */
  static int run(Surroundings surroundings, String... args) {
    CommandLine line = commandLine(surroundings);
    int code = line.execute(RunWords.reorder(line, args));
    surroundings.out().flush();
    surroundings.err().flush();
    return code;
  }

  private static CommandLine commandLine(Surroundings surroundings) {
    CommandLine line =
        new CommandLine(new Lukko())
            .addSubcommand(new RunCommand(surroundings))
            .addSubcommand(new StatusCommand(surroundings))
            .addSubcommand(new DemoCommand(surroundings))
            .addSubcommand(new HelpCommand());
    Complaints complaints = new Complaints(surroundings);
    line.setOut(surroundings.out())
        .setErr(surroundings.err())
        .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF))
        .setUsageHelpWidth(80)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(complaints)
        .setExecutionExceptionHandler(complaints);
    line.getSubcommands().get("run").setStopAtPositional(true);
    return line;
  }

  /** The version that the jar's manifest names. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Lukko.class.getPackage().getImplementationVersion();
      return new String[] {"lukko " + (version == null ? "(unpackaged)" : version)};
    }
  }
}
