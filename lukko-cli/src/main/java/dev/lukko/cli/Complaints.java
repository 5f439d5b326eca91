package dev.lukko.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns what went wrong into one line on standard error and an exit code. */
final class Complaints
    implements CommandLine.IParameterExceptionHandler, CommandLine.IExecutionExceptionHandler {

  private final Surroundings surroundings;

  Complaints(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public int handleParseException(ParameterException exception, String[] args) {
    CommandLine line = exception.getCommandLine();
    surroundings.say(describe(exception) + seeHelp(line));
    return ExitCode.USAGE;
  }

  @Override
  public int handleExecutionException(
      Exception exception, CommandLine line, ParseResult parseResult) {
    if (exception instanceof UsageException) {
      surroundings.say(exception.getMessage() + seeHelp(line));
      return ExitCode.USAGE;
    }
    if (exception instanceof UnavailableException) {
      surroundings.say(String.valueOf(exception.getMessage()));
      return ExitCode.UNAVAILABLE;
    }
    surroundings.say("unexpected error, please report it: " + exception);
    StringWriter trace = new StringWriter();
    exception.printStackTrace(new PrintWriter(trace, true));
    surroundings.err().print(Secrets.hide(trace.toString()));
    return ExitCode.SOFTWARE;
  }

  private static String describe(ParameterException exception) {
    if (exception instanceof UnmatchedArgumentException unmatched) {
      String word = unmatched.getUnmatched().get(0);
      String kind =
          word.startsWith("-")
              ? "option"
              : exception.getCommandLine().getParent() == null ? "command" : "argument";
      return "unknown "
          + kind
          + " '"
          + Secrets.hideInWord(word)
          + "'"
          + hint(unmatched.getSuggestions());
    }
    String message = String.valueOf(exception.getMessage());
    return Character.toLowerCase(message.charAt(0)) + message.substring(1);
  }

  private static String hint(List<String> suggestions) {
    if (suggestions.isEmpty()) {
      return "";
    }
    List<String> first = suggestions.subList(0, Math.min(3, suggestions.size()));
    return "; did you mean " + String.join(" or ", first) + "?";
  }

  private static String seeHelp(CommandLine line) {
    return " (see '" + line.getCommandSpec().qualifiedName() + " --help')";
  }
}
