package dev.lukko.cli;

import dev.lukko.Holder;
import dev.lukko.Lease;
import dev.lukko.LockBusyException;
import dev.lukko.LockClient;
import dev.lukko.LockException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockReport;
import dev.lukko.LockRequest;
import dev.lukko.LossReason;
import dev.lukko.NodeAnswer;
import dev.lukko.ReleaseOutcome;
import dev.lukko.cli.RunPolicy.OnLost;
import dev.lukko.cli.process.ProcessTree;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode;
import dev.lukko.time.Scheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** One run of a command under a lock, from the request to the exit code. */
final class LockedRun {

  private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(1);

  /** How Java words the system's error: "error=2, ..." before version 25, then "error: 2 (...". */
  private static final Pattern ERROR_NUMBER = Pattern.compile("error[=:] ?(\\d+)");

  private static final String KILLED = "lukko was killed while it ran a command under ";

  private static final int ENOENT = 2;
  private static final int EACCES = 13;
  private static final int ENOTDIR = 20;

  private final Surroundings surroundings;
  private final CommandProcess command;
  private final LockRequest request;
  private final RunWords words;
  private final RunPolicy policy;
  private final String resource;

  LockedRun(
      Surroundings surroundings,
      CommandProcess command,
      LockRequest request,
      RunWords words,
      RunPolicy policy) {
    this.surroundings = surroundings;
    this.command = command;
    this.request = request;
    this.words = words;
    this.policy = policy;
    this.resource = request.resources().get(0);
  }

  /**
   * Takes the lock, runs the command, and releases the lock.
   *
   * @param locks the client, which the caller closes
   * @param nodes its nodes, to be asked who has the lock instead
   * @return the exit code
   */
  int run(LockClient locks, List<? extends LockNode> nodes) {
    Lease lease;
    try {
      lease = locks.acquire(request);
    } catch (IllegalArgumentException outOfRange) {
      throw new UsageException(String.valueOf(outOfRange.getMessage()));
    } catch (LockException notAcquired) {
      return command.early().orElseGet(() -> refused(notAcquired));
    }
    try {
      return runUnder(lease, nodes);
    } finally {
      lease.release();
    }
  }

  private int refused(LockException reason) {
    if (reason instanceof LockBusyException busy) {
      if (policy.skipIfBusy()) {
        return ExitCode.OK;
      }
      surroundings.say(
          name()
              + " is held by "
              + busy.holder().map(LockedRun::describe).orElse("another")
              + (busy.waitExhausted() && !request.maxWait().orElse(Duration.ZERO).isZero()
                  ? "; gave up after " + Durations.show(busy.waited())
                  : "; did not wait (see --wait)")
              + nodesSaid(busy.answers()));
      return ExitCode.HELD;
    }
    if (reason instanceof LockNotAcquiredException unavailable) {
      surroundings.say(String.valueOf(unavailable.getMessage()));
      return ExitCode.UNAVAILABLE;
    }
    throw reason;
  }

  private int runUnder(Lease lease, List<? extends LockNode> nodes) {
    if (command.early().isPresent()) {
      return command.early().getAsInt();
    }
    try {
      command.start(lease, words);
    } catch (IOException cannotRun) {
      return explain(cannotRun);
    }
    CompletableFuture<LossReason> lost = lease.lost().toCompletableFuture();
    // Without a bound: the command may take as long as it likes, and the lease ends when it is
    // lost, at its ttl at the latest.
    CompletableFuture<Void> heldTooLong = heldTooLong();
    CompletableFuture.anyOf(command.ended(), lost, command.abandoned(), heldTooLong).join();
    boolean ended = command.ended().isDone();
    if (lost.isDone() || (ended && !lease.isValid())) {
      String why = "lost " + name() + ": " + lost.getNow(LossReason.EXPIRED).explanation();
      return ended || policy.onLost() == OnLost.KILL ? end(why, nodes) : goOn(why, nodes);
    }
    if (ended) {
      command.detach();
      return release(lease, command.ended().join(), nodes);
    }
    if (command.abandoned().isDone()) {
      return end(KILLED + name(), List.of());
    }
    int code = end("the command has held " + name() + " for --max-hold", List.of());
    return code == ExitCode.LOST ? ExitCode.HELD_TOO_LONG : code;
  }

  private CompletableFuture<Void> heldTooLong() {
    CompletableFuture<Void> never = new CompletableFuture<>();
    Duration maxHold = policy.maxHold();
    return maxHold == null
        ? never
        : never.completeOnTimeout(null, Scheduler.toNanosSaturated(maxHold), TimeUnit.NANOSECONDS);
  }

  /** Without the lock, as was asked for. */
  private int goOn(String why, List<? extends LockNode> nodes) {
    surroundings.say(why + "; the command goes on without it (--on-lost warn)" + nowHeldBy(nodes));
    CompletableFuture.anyOf(command.ended(), command.abandoned()).join();
    if (!command.ended().isDone()) {
      return end(KILLED + name(), List.of());
    }
    command.detach();
    return ExitCode.LOST;
  }

  private int explain(IOException cannotRun) {
    String message = String.valueOf(cannotRun.getMessage());
    Matcher number = ERROR_NUMBER.matcher(message);
    boolean notFound = false;
    String why = message;
    if (number.find()) {
      int error = Integer.parseInt(number.group(1));
      notFound = error == ENOENT || error == ENOTDIR;
      why = notFound ? "not found" : error == EACCES ? "not an executable file" : message;
    }
    surroundings.say("cannot run '" + words.command().get(0) + "' under " + name() + ": " + why);
    return notFound ? ExitCode.NOT_FOUND : ExitCode.CANNOT_RUN;
  }

  /** Ends what is left of the command, and says why. */
  private int end(String why, List<? extends LockNode> nodes) {
    ProcessTree tree = new ProcessTree(command.handle());
    boolean ended = command.ended().isDone();
    tree.terminate();
    surroundings.say(
        why
            + (ended
                ? "; the command had ended meanwhile with exit code " + command.ended().join()
                : "; ending the command: TERM now, KILL after "
                    + Durations.show(policy.killAfter()))
            + (nodes.isEmpty() ? "" : nowHeldBy(nodes)));
    int killed = tree.endWithin(policy.killAfter());
    if (killed > 0) {
      surroundings.say(
          "killed "
              + processes(killed)
              + " that had not ended "
              + Durations.show(policy.killAfter())
              + " after TERM");
    }
    command.detach();
    List<ProcessHandle> left = tree.alive();
    if (left.isEmpty()) {
      return ExitCode.LOST;
    }
    surroundings.say(
        "could not end "
            + processes(left.size())
            + ", and without the lock "
            + (left.size() == 1 ? "it goes" : "they go")
            + " on: "
            + left.stream()
                .map(process -> Long.toString(process.pid()))
                .collect(Collectors.joining(", ")));
    return ExitCode.NOT_ENDED;
  }

  private String processes(int count) {
    return count + (count == 1 ? " process" : " processes") + " of the command under " + name();
  }

  private int release(Lease lease, int exitCode, List<? extends LockNode> nodes) {
    ReleaseOutcome outcome = lease.release();
    switch (outcome.status()) {
      case RELEASED -> {
        return exitCode;
      }
      case UNKNOWN -> {
        surroundings.say(
            "could not release "
                + name()
                + " everywhere; what is left ends by itself within "
                + Durations.show(request.ttl())
                + nodesSaid(outcome.answers()));
        return exitCode;
      }
      case NOT_HELD -> {
        surroundings.say(
            "lost "
                + name()
                + ": "
                + LossReason.NOT_HELD.explanation()
                + "; the command had ended meanwhile with exit code "
                + exitCode
                + nodesSaid(outcome.answers())
                + nowHeldBy(nodes));
        return ExitCode.LOST;
      }
    }
    throw new IllegalStateException(outcome.describe());
  }

  private String nowHeldBy(List<? extends LockNode> nodes) {
    LockReport report = Redlock.inspect(nodes, resource, REPORT_TIMEOUT);
    String holders =
        report.holders().stream()
            .map(held -> describe(held.holder()))
            .collect(Collectors.joining(" and "));
    return "; now "
        + (holders.isEmpty() ? StatusText.summary(report) : "held by " + holders)
        + "; nodes: "
        + report.nodes().stream().map(StatusText::brief).collect(Collectors.joining("; "));
  }

  private static String nodesSaid(List<NodeAnswer> answers) {
    return "; nodes: "
        + answers.stream().map(NodeAnswer::toString).collect(Collectors.joining("; "));
  }

  private static String describe(Holder holder) {
    return holder.description()
        + holder.since().map(since -> " since " + since).orElse("")
        + holder.remaining().map(left -> ", for another " + Durations.show(left)).orElse("");
  }

  private String name() {
    return "lock '" + resource + "'";
  }
}
