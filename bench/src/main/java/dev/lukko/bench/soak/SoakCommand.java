package dev.lukko.bench.soak;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Reads the options of a run, and prints what came of it. */
@Command(
    name = "soak",
    header = "Adds to a fenced set under faults, and counts what is lost or doubled.",
    description = {
      "",
      "Starts five Redis servers and several client processes on this machine. Each client takes"
          + " the lock and adds to a set outside the lock servers, while servers, networks and"
          + " clients fail. At the end everything is healed, and the set is compared with what the"
          + " clients were told.",
      ""
    },
    sortOptions = false,
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every acknowledged addition is there, once, and nothing else was amiss",
      "1:something was lost, doubled, left behind or not granted",
      "64:the command line is wrong; nothing was done"
    })
public final class SoakCommand implements Callable<Integer> {
  private static final int USAGE = 64;
  private static final double LEAST_MINUTES = 0.01;
  private static final double MOST_MINUTES = 10_080;
  private static final int MOST_CLIENTS = 16;
  private static final int DEFAULT_MAY_FORGET = 2;

  private final PrintStream out;
  private final PrintStream err;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      defaultValue = "1",
      description = "How long faults are made, 0.01 to 10080. Default: 1.")
  private String minutes = "";

  @Option(
      names = "--seed",
      paramLabel = "N",
      description =
          "Decides which faults strike when. Default: another each time. Processes are scheduled by"
              + " the system, so the same seed gives a similar run, not the same one.")
  private @Nullable String seed;

  @Option(
      names = "--clients",
      paramLabel = "N",
      defaultValue = "4",
      description = "How many client processes, 2 to 16. Default: 4.")
  private String clients = "";

  @Option(
      names = "--faults",
      paramLabel = "KIND,...",
      description =
          "The kinds of faults; 'none' for none. Default: all. Kinds: ${COMPLETION-CANDIDATES}",
      completionCandidates = Kinds.class)
  private @Nullable String faults;

  @Option(
      names = "--may-forget",
      paramLabel = "N",
      description =
          "How many of the five servers may be without memory at the same time, 0 to 5. Default: 2."
              + " From 3 on, one holder at a time is not promised, and not looked at.")
  private @Nullable String mayForget;

  @Option(
      names = "--without-fence",
      description = "Control: the set takes every write. Additions are to get lost.")
  private boolean withoutFence;

  @Option(
      names = "--without-lock",
      description = "Control: nobody takes the lock. Additions are to get lost.")
  private boolean withoutLock;

  @Option(
      names = "--json",
      description = "Prints one JSON object on standard output, and the rest on standard error.")
  private boolean json;

  @Spec private @Nullable CommandSpec spec;

  /** The names of all faults, for the help. */
  static final class Kinds implements Iterable<String> {
    @Override
    public java.util.Iterator<String> iterator() {
      return Stream.of(FaultKind.values()).map(FaultKind::words).iterator();
    }
  }

  SoakCommand(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /**
   * Runs the command.
   *
   * @return the exit code
   */
  public static int execute(PrintStream out, PrintStream err, String... arguments) {
    CommandLine line = new CommandLine(new SoakCommand(out, err));
    line.setOut(new PrintWriter(out, true, StandardCharsets.UTF_8));
    line.setErr(new PrintWriter(err, true, StandardCharsets.UTF_8));
    line.setParameterExceptionHandler(
        (exception, given) -> {
          err.println(exception.getMessage() + " (see 'lukko-bench soak --help')");
          return USAGE;
        });
    return line.execute(arguments);
  }

  @Override
  public Integer call() throws InterruptedException, JsonProcessingException {
    SoakPlan plan = plan();
    PrintStream story = json ? err : out;
    // What the nodes say of broken connections is what this is about.
    Logger.getLogger("").setLevel(Level.SEVERE);
    story.printf("soak for %s min, seed %d, %s%n", minutes, plan.seed(), plan.mode().words());
    SoakReport report = new Soak(plan, story).run();
    report.print(story);
    if (json) {
      out.println(new ObjectMapper().writeValueAsString(report.toJson()));
    }
    return report.passed() ? 0 : 1;
  }

  SoakPlan plan() {
    if (withoutFence && withoutLock) {
      throw refused(
          "--without-fence and --without-lock exclude each other: without a lock there is"
              + " no token that a fence could look at");
    }
    SoakMode mode =
        withoutLock
            ? SoakMode.WITHOUT_LOCK
            : withoutFence ? SoakMode.WITHOUT_FENCE : SoakMode.FENCED;
    return new SoakPlan(
        duration(),
        seed == null
            ? ThreadLocalRandom.current().nextLong(1_000_000_000)
            : whole("--seed", seed, Long.MIN_VALUE, Long.MAX_VALUE),
        (int) whole("--clients", clients, 2, MOST_CLIENTS),
        mode,
        kinds(),
        mayForget == null
            ? DEFAULT_MAY_FORGET
            : (int) whole("--may-forget", mayForget, 0, SoakPlan.NODES));
  }

  private Duration duration() {
    double value;
    try {
      value = Double.parseDouble(minutes);
    } catch (NumberFormatException notANumber) {
      value = Double.NaN;
    }
    if (!(value >= LEAST_MINUTES && value <= MOST_MINUTES)) {
      throw refused("--minutes is '" + minutes + "'; it must be a number from 0.01 to 10080");
    }
    return Duration.ofMillis(Math.round(value * 60_000));
  }

  private long whole(String option, String text, long least, long most) {
    try {
      long value = Long.parseLong(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException notANumber) {
      // Refused below, as what is out of range.
    }
    throw refused(
        option
            + " is '"
            + text
            + "'; it must be a whole number"
            + (least == Long.MIN_VALUE ? " of 64 bits" : " from " + least + " to " + most));
  }

  private Set<FaultKind> kinds() {
    if (faults == null) {
      return EnumSet.allOf(FaultKind.class);
    }
    Set<FaultKind> kinds = EnumSet.noneOf(FaultKind.class);
    if (!faults.equals("none")) {
      for (String word : faults.split(",", -1)) {
        kinds.add(
            FaultKind.named(word)
                .orElseThrow(
                    () ->
                        refused(
                            "--faults has '"
                                + word
                                + "'; it must name kinds of "
                                + Stream.of(FaultKind.values())
                                    .map(FaultKind::words)
                                    .collect(Collectors.joining(", "))
                                + ", or be none")));
      }
    }
    return kinds;
  }

  private ParameterException refused(String message) {
    return new ParameterException(java.util.Objects.requireNonNull(spec).commandLine(), message);
  }
}
