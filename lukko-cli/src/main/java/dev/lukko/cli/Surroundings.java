package dev.lukko.cli;

import java.io.PrintWriter;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a command has around itself, so that it can be tested inside one JVM.
 *
 * @param out standard output
 * @param err standard error
 * @param environment the variables of the environment
 * @param shell the shell that runs COMMAND; null if this JVM does
 */
record Surroundings(
    PrintWriter out,
    PrintWriter err,
    Map<String, String> environment,
    @Nullable LaunchingShell shell) {

  Surroundings {
    environment = Map.copyOf(environment);
  }

  Surroundings(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    this(out, err, environment, null);
  }

  /** Tells people on standard error, on one line and without passwords. */
  void say(String message) {
    err.println("lukko: " + Secrets.hide(message).replaceAll("\\R", " "));
    err.flush();
  }
}
