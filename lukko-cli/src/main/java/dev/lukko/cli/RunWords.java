package dev.lukko.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The words of {@code lukko run} that are no options: what to lock and what to run.
 *
 * @param resource the name to lock
 * @param command the command and its arguments, at least one word
 */
record RunWords(String resource, List<String> command) {

  private static final String SEPARATOR = "--";

  RunWords {
    command = List.copyOf(command);
  }

  /**
   * Takes apart what stands behind the options: RESOURCE, then "--" unless the command follows at
   * once.
   *
   * @throws UsageException if the resource or the command is missing, or an option stands where
   *     neither is certain
   */
  static RunWords of(List<String> words) {
    if (words.size() > 2 && words.get(0).equals(SEPARATOR) && words.get(2).equals(SEPARATOR)) {
      return of(words.subList(1, words.size())); // the resource may begin with a dash
    }
    if (words.isEmpty() || words.get(0).equals(SEPARATOR)) {
      throw new UsageException("no resource: write lukko run RESOURCE -- COMMAND");
    }
    String resource = words.get(0);
    List<String> rest = words.subList(1, words.size());
    if (!rest.isEmpty() && rest.get(0).equals(SEPARATOR)) {
      rest = rest.subList(1, rest.size());
    } else if (!rest.isEmpty() && rest.get(0).startsWith("-")) {
      throw new UsageException(
          "'"
              + rest.get(0)
              + "' after the resource '"
              + resource
              + "' is ambiguous: put options before the resource, or -- before the command");
    }
    if (rest.isEmpty()) {
      throw new UsageException("no command to run under '" + resource + "': write it after --");
    }
    return new RunWords(resource, rest);
  }

  /**
   * Moves the options that stand between RESOURCE and "--" in front of the resource, where the
   * parser looks for them: with the separator there it is certain that they are ours. Other command
   * lines stay as they are.
   */
  static String[] reorder(Map<String, CommandLine> subcommands, String[] args) {
    int separator = List.of(args).indexOf(SEPARATOR);
    CommandLine run = separator < 1 ? null : subcommands.get(args[0]);
    if (run == null || !(run.getCommand() instanceof RunCommand)) {
      return args;
    }
    List<String> options = new ArrayList<>(List.of(args[0]));
    List<String> others = new ArrayList<>();
    for (int i = 1; i < separator; i++) {
      String word = args[i];
      if (!word.startsWith("-")) {
        others.add(word);
        continue;
      }
      options.add(word);
      OptionSpec option = run.getCommandSpec().findOption(word);
      if (option != null && option.arity().min() > 0 && i + 1 < separator) {
        options.add(args[++i]);
      }
    }
    if (others.size() > 1) {
      return args; // the separator belongs to the command, which stands behind the resource
    }
    if (others.isEmpty()) {
      options.add(SEPARATOR); // taken away by the parser, which leaves the other one to be seen
    }
    options.addAll(others);
    options.addAll(List.of(args).subList(separator, args.length));
    return options.toArray(String[]::new);
  }
}
