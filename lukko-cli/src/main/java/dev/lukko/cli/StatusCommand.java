package dev.lukko.cli;

import dev.lukko.LockReport;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows who holds a lock, as each node tells. */
@Command(
    name = "status",
    header = "Shows who holds a lock, and for how long.",
    description = {"", "Asks every node, changes nothing, and shows what each has stored.", ""},
    sortOptions = false,
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:a quorum of nodes answered, whether the lock is held or free",
      "64:the command line is wrong; nothing was done",
      "69:no quorum of nodes could be reached, or the lock file not be used"
    },
    footer = {
      "",
      "Examples:",
      "  lukko status nightly",
      "  lukko status --node redis://localhost:6379 nightly",
      "  LUKKO_NODES='redis://a redis://b redis://c' lukko status --json nightly"
    })
final class StatusCommand implements Callable<Integer> {

  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final int MAX_NAME_LENGTH = dev.lukko.LockRequest.MAX_NAME_LENGTH;

  private final Surroundings surroundings;

  @Mixin private NodeOptions nodes;

  @Option(names = "--json", description = "Prints one JSON object instead of text.")
  private boolean json;

  @Parameters(paramLabel = "RESOURCE", description = "The name of the lock.")
  private String resource = "";

  StatusCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    if (resource.isEmpty() || resource.length() > MAX_NAME_LENGTH) {
      throw new UsageException(
          "the resource has "
              + resource.length()
              + " characters; it must have 1 to "
              + MAX_NAME_LENGTH);
    }
    RawWords.checkName(resource);
    LockStore store = nodes.store(surroundings);
    return show(store.report(resource, TIMEOUT), store.headline());
  }

  private int show(LockReport report, String headline) {
    if (json) {
      StatusJson.print(report, headline, surroundings.out());
    } else {
      if (!headline.isEmpty()) {
        surroundings.out().println(headline);
      }
      StatusText.print(report, Instant.now(), surroundings.out());
    }
    if (report.hasQuorum()) {
      return ExitCode.OK;
    }
    surroundings.say(
        "no quorum for lock '"
            + resource
            + "': "
            + report.answered()
            + " of "
            + report.nodes().size()
            + " nodes answered, "
            + report.quorum()
            + " needed");
    return ExitCode.UNAVAILABLE;
  }
}
