package dev.lukko.cli;

import dev.lukko.LockReport;
import dev.lukko.cli.doctor.Diagnosis;
import dev.lukko.cli.doctor.FileExam;
import dev.lukko.jdbc.EmbeddedNode;
import dev.lukko.jdbc.JdbcNode;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.LockNode;
import dev.lukko.text.Printable;
import dev.lukko.text.PrintableAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

  /** A file of fewer bytes is not worth a look. */
  private static final long TIDY_BYTES = 1 << 20;

  private static final Duration TIDY_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration PURGE_TIMEOUT = Duration.ofMinutes(1);

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

  /**
   * Each run grants once, and is too short for the node to delete old rows by itself. So a file
   * that has grown is looked through at the end of a run.
   */
  @Override
  public void tidy(List<? extends LockNode> nodes) {
    try {
      if (Files.size(path) > TIDY_BYTES && nodes.get(0) instanceof JdbcNode node) {
        node.purge().toCompletableFuture().get(TIDY_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (IOException | ExecutionException | TimeoutException nextTime) {
      // The run itself went well; the next one tries again.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Deletes what nobody has held for a week, and gives the space back to the disk.
   *
   * @return what was done, for people
   */
  String purge() {
    if (Files.notExists(path)) {
      return "there is no file " + path;
    }
    String url = "jdbc:sqlite:" + path;
    try (JdbcNode node = (JdbcNode) open().get(0)) {
      long before = Files.size(path);
      long deleted =
          node.purge().toCompletableFuture().get(PURGE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      try (Connection connection = DriverManager.getConnection(url);
          Statement statement = connection.createStatement()) {
        statement.execute("PRAGMA busy_timeout = " + NODE_TIMEOUT.toMillis());
        statement.execute("VACUUM");
        statement.execute("PRAGMA wal_checkpoint(TRUNCATE)");
      }
      return "deleted "
          + deleted
          + " names; "
          + path
          + " had "
          + before
          + " bytes and has "
          + Files.size(path);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unavailable("interrupted");
    } catch (IOException | SQLException | ExecutionException | TimeoutException failure) {
      Throwable cause = failure.getCause() == null ? failure : failure.getCause();
      throw new UnavailableException(
          "could not purge " + PrintableAddress.of(url) + " (" + why(cause) + ")");
    }
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
        : cause.getClass().getSimpleName()
            + ": "
            + Printable.of(String.valueOf(cause.getMessage()));
  }

  private static UnavailableException unavailable(String message) {
    return new UnavailableException(
        message + "; set XDG_STATE_HOME to another directory, or name nodes with --node");
  }
}
