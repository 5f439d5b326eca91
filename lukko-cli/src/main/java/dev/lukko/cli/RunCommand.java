package dev.lukko.cli;

import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ProcessName;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs a command while the lock is held: what flock does on one machine, on many. */
@Command(
    name = "run",
    header = "Runs a command while a lock is held.",
    description = {
      "",
      "Takes the lock RESOURCE, runs COMMAND, and releases the lock when COMMAND has ended. The"
          + " lock is extended while COMMAND runs, however long that is. If the lock is lost all"
          + " the same, COMMAND and all it has started get TERM, and KILL after --kill-after.",
      "",
      "With nodes, the lock holds for all who name the same ones. Without, it is in a file, and"
          + " holds for the processes of this user on this machine.",
      "",
      "COMMAND finds the name in LUKKO_RESOURCE and the fencing token in LUKKO_FENCING_TOKEN, and"
          + " has the descriptors of lukko. Signals are passed on to it.",
      ""
    },
    customSynopsis = {
      "lukko run [-v] [--node URL ...] [--ttl DURATION]",
      "                 [--wait DURATION] [--key-format FORMAT]",
      "                 [--skip-if-busy] [--on-lost kill|warn]",
      "                 [--max-hold DURATION] [--kill-after DURATION]",
      "                 [--max-ttl DURATION]",
      "                 RESOURCE -- COMMAND [ARG...]"
    },
    sortOptions = false,
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "N:the exit code of COMMAND, or 128+N if signal N ended it",
      "64:the command line is wrong; nothing was done",
      "69:no quorum of nodes could be reached, or the lock file not be used;"
          + " COMMAND did not run",
      "75:the lock is held by another; COMMAND did not run (0 with --skip-if-busy)",
      "70:an error in this program, or its Java did not start",
      "79:the lock was lost while COMMAND ran; COMMAND was ended",
      "80:a process of COMMAND could not be ended when the lock was lost, or"
          + " COMMAND not be told of a signal",
      "124:COMMAND was ended, since it held the lock for --max-hold",
      "126:COMMAND was found and could not be run",
      "127:COMMAND was not found"
    },
    footer = {
      "",
      "A DURATION is a number with a unit (500ms, 30s, 2m, 1h) or ISO 8601 (PT30S).",
      "",
      "Examples:",
      "  lukko run nightly -- ./backup.sh",
      "  lukko run --node redis://localhost:6379 nightly -- ./backup.sh --full",
      "  LUKKO_NODES='redis://a redis://b redis://c' \\",
      "    lukko run --wait 10s --ttl 1m nightly -- ./backup.sh"
    })
final class RunCommand implements Callable<Integer> {

  private static final String FOREVER = "forever";

  private final Surroundings surroundings;

  @Mixin private NodeOptions nodes;

  @Option(
      names = "--ttl",
      paramLabel = "DURATION",
      defaultValue = "30s",
      description =
          "How long the nodes keep the lock if this process or its machine dies. Default: 30s.")
  private Duration ttl = Duration.ZERO;

  @Option(
      names = "--wait",
      paramLabel = "DURATION",
      defaultValue = "0s",
      description =
          "How long to wait if another holds the lock, or 'forever'. Default: 0s, which fails at"
              + " once.")
  private String maxWait = "";

  @Option(
      names = "--skip-if-busy",
      description = "Ends with 0 and says nothing if another holds the lock when --wait is over.")
  private boolean skipIfBusy;

  @Option(
      names = "--on-lost",
      paramLabel = "kill|warn",
      defaultValue = "kill",
      description =
          "What becomes of COMMAND when the lock is lost: 'kill' ends it, 'warn' says so and lets"
              + " it go on without the lock. Default: kill.")
  private RunPolicy.OnLost onLost = RunPolicy.OnLost.KILL;

  @Option(
      names = "--max-hold",
      paramLabel = "DURATION",
      description =
          "How long COMMAND may hold the lock; then it is ended as if the lock were lost. Without"
              + " it: as long as it likes.")
  private @Nullable Duration maxHold;

  @Option(
      names = "--kill-after",
      paramLabel = "DURATION",
      defaultValue = "5s",
      description = "How long COMMAND has from TERM to KILL when it is ended. Default: 5s.")
  private Duration killAfter = Duration.ZERO;

  @Option(
      names = "--max-ttl",
      paramLabel = "DURATION",
      defaultValue = "5m",
      description =
          "The longest ttl that any client of these nodes asks for; the same for all of them. A"
              + " node that has lost its memory does not vote for this long. Default: 5m.")
  private Duration maxTtl = Duration.ZERO;

  @Parameters(
      arity = "0..*",
      paramLabel = "RESOURCE -- COMMAND",
      description =
          "The name to lock, of 1 to 255 characters, and what to run. The -- may be left out if"
              + " COMMAND follows RESOURCE at once.")
  private @Nullable List<String> words;

  RunCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    RunWords run = RunWords.of(words == null ? List.of() : words);
    LockRequest request = request(run);
    checkPositive("--max-hold", maxHold);
    LockStore store = nodes.store(surroundings);
    LaunchingShell shell = surroundings.shell();
    try (CommandProcess command = shell == null ? ownCommand(run) : new ShellCommand(shell)) {
      List<LockNode> connected = store.open();
      try (Redlock locks = client(store, connected)) {
        RunPolicy policy = new RunPolicy(skipIfBusy, onLost, maxHold, killAfter);
        int code = new LockedRun(surroundings, command, request, run, policy).run(locks, connected);
        store.tidy(connected);
        return code;
      }
    }
  }

  private static void checkPositive(String option, @Nullable Duration value) {
    if (value != null && value.isZero()) {
      throw new UsageException(option + " is 0 ms; it must be longer");
    }
  }

  private static CommandProcess ownCommand(RunWords run) {
    RawWords.checkCommand(run.command());
    if (ProcessHandle.current().pid() == 1) {
      throw new UsageException(
          "this Java is process 1, which would have to care for processes that others leave behind;"
              + " start it by ./lukko, or under an init (docker run --init)");
    }
    return new OwnCommand();
  }

  /** The client; refuses what only the nodes can tell, such as one server under two names. */
  private Redlock client(LockStore store, List<LockNode> connected) {
    try {
      RedlockBuilder builder = Redlock.builder().nodes(connected).maxTtl(maxTtl);
      store.tune(builder);
      LaunchingShell shell = surroundings.shell();
      if (shell != null) {
        builder.description(
            shell.pid() + ProcessName.get().substring(ProcessName.get().indexOf('@')));
      }
      return builder.build();
    } catch (IllegalArgumentException | LockException unfit) {
      throw new UsageException(String.valueOf(unfit.getMessage()));
    }
  }

  private LockRequest request(RunWords run) {
    RawWords.checkName(run.resource());
    if (ttl.compareTo(maxTtl) > 0) {
      throw new UsageException(
          "ttl is "
              + Durations.show(ttl)
              + "; it must not be longer than --max-ttl, "
              + Durations.show(maxTtl));
    }
    try {
      return LockRequest.builder(run.resource())
          .ttl(ttl)
          .maxWait(maxWait.equals(FOREVER) ? LockRequest.FOREVER : wait(maxWait))
          .autoExtend(true)
          .metadata(metadata(run.command().get(0)))
          .build();
    } catch (IllegalArgumentException outOfRange) {
      throw new UsageException(String.valueOf(outOfRange.getMessage()));
    }
  }

  private static Duration wait(String text) {
    try {
      return Durations.parse(text);
    } catch (IllegalArgumentException malformed) {
      throw new UsageException("--wait: " + malformed.getMessage() + ", or forever");
    }
  }

  /** The command's name for those who wait; its arguments are nobody's business. */
  private static String metadata(String program) {
    String name = program.substring(program.lastIndexOf('/') + 1);
    StringBuilder shown = new StringBuilder("lukko run ");
    name.codePoints()
        .limit(40)
        .filter(point -> !Character.isISOControl(point) && Character.isDefined(point))
        .forEach(shown::appendCodePoint);
    return shown.toString();
  }
}
