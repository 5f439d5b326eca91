package dev.lukko.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The {@code lukko} command: entry point and root of its subcommands. */
@Command(
    name = "lukko",
    description = "Takes, shows and tests distributed locks.",
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class)
public final class Lukko implements Runnable {

  @Spec private CommandSpec spec;

  Lukko() {}

  /**
   * Runs the command and ends the JVM with its exit code.
   *
   * @param args the words of the command line
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Lukko()).execute(args));
  }

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
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
