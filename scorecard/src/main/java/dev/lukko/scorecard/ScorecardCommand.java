package dev.lukko.scorecard;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Reads the options, runs the rows, and prints what was seen. */
@Command(
    name = "scorecard",
    header = "The same faults for several lock libraries, and what came of them.",
    sortOptions = false,
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all rows were run, whatever came of them",
      "1:a row could not be carried through",
      "64:the command line is wrong; nothing was done"
    })
public final class ScorecardCommand implements Callable<Integer> {
  private static final int USAGE = 64;
  private static final int AT_A_TIME = 3;

  private final PrintStream out;
  private final PrintStream err;

  @Option(
      names = "--libraries",
      paramLabel = "NAME,...",
      description = "Only these: ${COMPLETION-CANDIDATES}",
      completionCandidates = Names.class)
  private @Nullable String libraries;

  @Option(names = "--rows", paramLabel = "N,...", description = "Only these, 1 to 15.")
  private @Nullable String rows;

  @Option(names = "--markdown", paramLabel = "FILE", description = "Writes a page into a file.")
  private @Nullable Path markdown;

  @Option(
      names = "--json",
      description = "Prints one JSON array on standard output, and the rest on standard error.")
  private boolean json;

  @Spec private @Nullable CommandSpec spec;

  /** The names of all libraries, for the help. */
  static final class Names implements Iterable<String> {
    @Override
    public java.util.Iterator<String> iterator() {
      return Library.keys().iterator();
    }
  }

  ScorecardCommand(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /** The entry of {@code ./lukko-bench scorecard}. */
  public static void main(String[] arguments) {
    System.exit(execute(System.out, System.err, arguments));
  }

  static int execute(PrintStream out, PrintStream err, String... arguments) {
    CommandLine line = new CommandLine(new ScorecardCommand(out, err));
    line.setOut(new PrintWriter(out, true, StandardCharsets.UTF_8));
    line.setErr(new PrintWriter(err, true, StandardCharsets.UTF_8));
    line.setParameterExceptionHandler(
        (exception, given) -> {
          err.println(exception.getMessage() + " (see 'lukko-bench scorecard --help')");
          return USAGE;
        });
    return line.execute(arguments);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Card card = new Card(chosenRows(), chosenLibraries());
    Logger.getLogger("").setLevel(Level.OFF);
    PrintStream story = json ? err : out;
    try (Surroundings surroundings = new Surroundings(card.libraries(), story::println)) {
      card.run(surroundings, AT_A_TIME, story);
    }
    if (markdown != null) {
      Files.writeString(markdown, Page.of(card));
    }
    if (json) {
      out.println(new ObjectMapper().writeValueAsString(card.toJson()));
    }
    return 0;
  }

  private List<Library> chosenLibraries() {
    if (libraries == null) {
      return List.of(Library.values());
    }
    List<Library> chosen = new ArrayList<>();
    for (String word : libraries.split(",", -1)) {
      chosen.add(
          Stream.of(Library.values())
              .filter(library -> library.key().equals(word))
              .findFirst()
              .orElseThrow(
                  () ->
                      refused(
                          "--libraries has '"
                              + word
                              + "'; it must name some of "
                              + String.join(", ", Library.keys()))));
    }
    return chosen;
  }

  private List<Row> chosenRows() {
    if (rows == null) {
      return Rows.ALL;
    }
    List<Row> chosen = new ArrayList<>();
    for (String word : rows.split(",", -1)) {
      chosen.add(
          Rows.ALL.stream()
              .filter(row -> Integer.toString(row.number()).equals(word))
              .findFirst()
              .orElseThrow(
                  () ->
                      refused(
                          "--rows has '"
                              + word
                              + "'; it must have numbers from 1 to "
                              + Rows.ALL.size())));
    }
    return chosen;
  }

  private ParameterException refused(String message) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
  }
}
