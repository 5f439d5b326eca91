package dev.lukko.cli.doctor;

import dev.lukko.cli.doctor.NodeReport.Section;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Looks at the lock file of this machine. Much of what is asked of a server does not apply. */
public final class FileExam {
  private static final int LOOKS = 20;
  private static final String UNUSED = "lukko doctor";

  private FileExam() {}

  /**
   * Looks at the file, and makes none.
   *
   * @param open opens the file as a node; a failure is a finding
   */
  public static Diagnosis of(Path file, Supplier<LockNode> open, Duration timeout) {
    return Diagnosis.of(List.of(report(file, open, timeout)), "");
  }

  private static NodeReport report(Path file, Supplier<LockNode> open, Duration timeout) {
    String name = "embedded:" + file;
    List<Section> sections = new ArrayList<>();
    if (Files.notExists(file)) {
      sections.add(
          RedisSections.section("schema", "the first lock makes the file", "there", false));
      sections.add(rest());
      return new NodeReport(name, NodeStatus.voting(name), sections, List.of());
    }
    try (LockNode node = open.get()) {
      long[] trips = trips(node, System.nanoTime() + timeout.toNanos());
      sections.add(RedisSections.section("schema", "the tables are there", "there", true));
      sections.add(
          RedisSections.section(
              "latency",
              "p50 "
                  + Timing.millis(Timing.percentile(trips, 50))
                  + ", p99 "
                  + Timing.millis(Timing.percentile(trips, 99))
                  + " ("
                  + trips.length
                  + " looks)",
              "p50Micros",
              Timing.percentile(trips, 50) / 1_000,
              "p99Micros",
              Timing.percentile(trips, 99) / 1_000));
      sections.add(rest());
      return new NodeReport(
          name, NodeStatus.voting(name), sections, FileFindings.beforeWriting(file));
    } catch (TimeoutException hangs) {
      return unusable(name, file, "no answer within " + Spans.show(timeout.toMillis()));
    } catch (ExecutionException | RuntimeException failed) {
      Throwable cause = failed.getCause() == null ? failed : failed.getCause();
      return unusable(name, file, String.valueOf(cause.getMessage()));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return unusable(name, file, "interrupted");
    }
  }

  private static NodeReport unusable(String name, Path file, String cause) {
    return NodeReport.unreachable(name, cause, FileFindings.unusable(file, cause));
  }

  private static long[] trips(LockNode node, long deadlineNanos)
      throws ExecutionException, InterruptedException, TimeoutException {
    long[] trips = new long[LOOKS];
    for (int i = 0; i < LOOKS; i++) {
      long asked = System.nanoTime();
      node.inspect(UNUSED)
          .toCompletableFuture()
          .get(Math.max(0, deadlineNanos - asked), TimeUnit.NANOSECONDS);
      trips[i] = System.nanoTime() - asked;
    }
    Arrays.sort(trips);
    return trips;
  }

  private static Section rest() {
    return RedisSections.section(
        "clock",
        "does not apply, nor do version, run, memory, persistence and rights: the file is this"
            + " machine's own",
        "applies",
        false);
  }
}
