package dev.lukko.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lukko.cli.demo.Demo;
import dev.lukko.cli.demo.DemoFailedException;
import dev.lukko.cli.demo.DemoResult;
import dev.lukko.cli.demo.DemoTable;
import dev.lukko.cli.demo.Screen;
import dev.lukko.cli.process.Signal;
import dev.lukko.cli.process.SignalTrap;
import dev.lukko.cli.process.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.EnumSet;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows on real servers and processes what a lock does, and what only a fence does. */
@Command(
    name = "demo",
    header = "Shows what a lock does, on five real Redis servers.",
    description = {
      "",
      "Starts five Redis servers on free ports and three worker processes, bills 200 invoices"
          + " without a lock and with one while servers fail, then stops a holder past its ttl."
          + " Every number comes from a real ledger. Takes less than half a minute, and leaves"
          + " nothing behind.",
      ""
    },
    sortOptions = false,
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the demo has shown what it is there to show",
      "1:it came out differently",
      "64:the command line is wrong; nothing was done",
      "69:the demo could not be carried through"
    },
    footer = {"", "Examples:", "  lukko demo", "  lukko demo --json"})
final class DemoCommand implements Callable<Integer> {

  private final Surroundings surroundings;

  @Option(
      names = "--json",
      description = "Prints one JSON object on standard output, and the story on standard error.")
  private boolean json;

  DemoCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  @SuppressWarnings("try") // the trap is only there while the story runs
  public Integer call() throws IOException {
    Thread story = Thread.currentThread();
    AtomicReference<@Nullable Signal> ended = new AtomicReference<>();
    // The story unwinds and takes its processes and files with it; a second signal does not wait.
    try (SignalTrap trap =
        SignalTrap.install(
            EnumSet.of(Signal.HUP, Signal.INT, Signal.TERM),
            signal -> {
              if (!ended.compareAndSet(null, signal)) {
                System.exit(signal.exitCode());
              }
              story.interrupt();
            })) {
      return play();
    } catch (InterruptedException e) {
      Signal signal = ended.get();
      return (signal == null ? Signal.INT : signal).exitCode();
    } catch (DemoFailedException e) {
      Signal signal = ended.get();
      if (signal != null) {
        return signal.exitCode();
      }
      surroundings.say("the demo could not be carried through: " + e.getMessage());
      return ExitCode.UNAVAILABLE;
    }
  }

  private int play() throws IOException, InterruptedException {
    Screen screen = screen();
    DemoResult result = new Demo(screen).run();
    DemoTable.print(result, screen);
    if (json) {
      surroundings.out().println(toJson(result));
    }
    return result.isAsPromised() ? ExitCode.OK : ExitCode.BROKEN_PROMISE;
  }

  private Screen screen() {
    PrintWriter writer = json ? surroundings.err() : surroundings.out();
    boolean live = Terminal.is(json ? Terminal.ERROR : Terminal.OUTPUT);
    String noColor = surroundings.environment().getOrDefault("NO_COLOR", "");
    boolean dumb = surroundings.environment().getOrDefault("TERM", "dumb").equals("dumb");
    return new Screen(writer, live && !dumb, live && !dumb && noColor.isEmpty());
  }

  private static String toJson(DemoResult result) {
    try {
      return new ObjectMapper().writeValueAsString(result.toJson());
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
