package dev.lukko.cli;

import dev.lukko.LockReport;
import dev.lukko.cli.doctor.Diagnosis;
import dev.lukko.cli.doctor.FileExam;
import dev.lukko.jdbc.EmbeddedNode;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.LockNode;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The file of this user on this machine, which needs no server.
 *
 * @param path absolute; need not exist
 */
record EmbeddedFile(Path path) implements LockStore {

  /** A busy file answers late rather than never, and there is no other node to make up for it. */
  private static final Duration NODE_TIMEOUT = Duration.ofSeconds(2);

  /** The file tells nobody of a release; looking often is cheap. */
  private static final Duration RETRY_DELAY = Duration.ofMillis(50);

  static EmbeddedFile of(Map<String, String> environment) {
    return new EmbeddedFile(EmbeddedNode.file(environment));
  }

  @Override
  public String description() {
    return "the file " + path + ", for this user on this machine alone";
  }

  @Override
  public String headline() {
    return "no nodes are named (--node, LUKKO_NODES): this is " + description();
  }

  @Override
  public List<LockNode> open() {
    try {
      return List.of(EmbeddedNode.open(path));
    } catch (UncheckedIOException failure) {
      throw unavailable(failure.getMessage() + " (" + why(failure.getCause()) + ")");
    } catch (IllegalArgumentException | IllegalStateException unfit) {
      throw unavailable("the lock file " + path + " cannot be used: " + unfit.getMessage());
    }
  }

  @Override
  public void tune(RedlockBuilder client) {
    client.nodeTimeout(NODE_TIMEOUT).retryDelay(RETRY_DELAY).retryJitter(RETRY_DELAY);
  }

  @Override
  public LockReport report(String resource, Duration timeout) {
    if (Files.notExists(path)) {
      // Looking must not be what creates it.
      return new LockReport(
          resource,
          List.of(
              new LockReport.NodeEntries(
                  "embedded:" + path, true, List.of(), OptionalLong.empty(), "")));
    }
    return LockStore.super.report(resource, timeout);
  }

  @Override
  public Diagnosis diagnose(Duration timeout, Duration maxTtl) {
    return FileExam.of(path, () -> open().get(0), timeout);
  }

  private static String why(@Nullable Throwable cause) {
    return cause == null
        ? "unknown cause"
        : cause.getClass().getSimpleName() + ": " + cause.getMessage();
  }

  private static UnavailableException unavailable(String message) {
    return new UnavailableException(
        message + "; set XDG_STATE_HOME to another directory, or name nodes with --node");
  }
}
