package dev.lukko.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;

/** What one call of the command inside this JVM has printed and returned. */
record Invocation(int exitCode, String out, String err) {

  static Invocation of(String... args) {
    return with(Map.of(), args);
  }

  static Invocation with(Map<String, String> environment, String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        Lukko.run(new Surroundings(new PrintWriter(out), new PrintWriter(err), environment), args);
    return new Invocation(exitCode, out.toString(), err.toString());
  }
}
