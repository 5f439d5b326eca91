package dev.lukko.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The {@code lukko} command: entry point and root of its subcommands. */
@Command(
    name = "lukko",
    header = "Takes, shows and tests distributed locks.",
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "64:the command line is wrong; nothing was done",
      "70:an error in this program",
      "N:more in the help of each command"
    },
    footer = {
      "",
      "Examples:",
      "  lukko demo",
      "  lukko run nightly -- ./backup.sh",
      "  lukko run --node redis://localhost:6379 nightly -- ./backup.sh",
      "  lukko status --node redis://localhost:6379 nightly",
      "  lukko doctor --node redis://localhost:6379",
      "",
      "'lukko COMMAND --help' tells all about a command."
    })
public final class Lukko implements Callable<Integer> {

  @Spec private CommandSpec spec;

  Lukko() {}

  /**
   * Runs the command and ends the JVM with its exit code.
   *
   * @param args the words of the command line
   */
  public static void main(String[] args) {
    LibraryLog.silence();
    String[] words = RawWords.of(args);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    Optional<LaunchingShell> shell = LaunchingShell.of(words);
    if (shell.isEmpty()) {
      PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
      System.exit(run(new Surroundings(out, err, System.getenv()), words));
    }
    // Standard output is the pipe to the shell, which prints the text and leaves with the exit
    // code.
    StringWriter text = new StringWriter();
    Surroundings surroundings =
        new Surroundings(new PrintWriter(text), err, System.getenv(), shell.get());
    int code = run(surroundings, words);
    shell.get().end(text.toString(), code);
    System.exit(ExitCode.OK);
  }

  /** Runs the command inside this JVM and returns its exit code. */
  static int run(Surroundings surroundings, String... args) {
    CommandLine line = commandLine(surroundings);
    int code = line.execute(RunWords.reorder(line.getSubcommands(), args));
    surroundings.out().flush();
    surroundings.err().flush();
    return code;
  }

  /** Without a command there is nothing to do: says which there are. */
  @Override
  public Integer call() {
    PrintWriter err = spec.commandLine().getErr();
    err.println("lukko: no command; these are there");
    err.println();
    spec.commandLine().usage(err);
    return ExitCode.USAGE;
  }

  private static CommandLine commandLine(Surroundings surroundings) {
    CommandLine run = new CommandLine(new RunCommand(surroundings));
    CommandLine line =
        new CommandLine(new Lukko())
            .addSubcommand(run)
            .addSubcommand(new StatusCommand(surroundings))
            .addSubcommand(new DoctorCommand(surroundings))
            .addSubcommand(
                new CommandLine(new FleetCommand())
                    .addSubcommand(new FleetShowCommand(surroundings))
                    .addSubcommand(new FleetChangeCommand(surroundings)))
            .addSubcommand(new DemoCommand(surroundings))
            .addSubcommand(new DdlCommand(surroundings))
            .addSubcommand(new PurgeCommand(surroundings))
            .addSubcommand(new HelpCommand());
    Complaints complaints = new Complaints(surroundings);
    line.setOut(surroundings.out())
        .setErr(surroundings.err())
        .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF))
        .setUsageHelpWidth(80)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExpandAtFiles(false)
        .registerConverter(Duration.class, Lukko::duration)
        .setParameterExceptionHandler(complaints)
        .setExecutionExceptionHandler(complaints);
    run.setStopAtPositional(true);
    return line;
  }

  private static Duration duration(String text) {
    try {
      return Durations.parse(text);
    } catch (IllegalArgumentException malformed) {
      throw new TypeConversionException(String.valueOf(malformed.getMessage()));
    }
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
