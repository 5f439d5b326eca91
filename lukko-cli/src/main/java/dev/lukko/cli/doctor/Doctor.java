package dev.lukko.cli.doctor;

import dev.lukko.LockException;
import dev.lukko.redis.RedisNode;
import dev.lukko.redis.RedisNodeBuilder;
import dev.lukko.redis.RedisProbe;
import dev.lukko.redis.RedisRights;
import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Looks at nodes on Redis servers, all at the same time, each within its time. */
public final class Doctor {
  private static final Duration MARGIN = Duration.ofMillis(500);

  private final Supplier<RedisNodeBuilder> access;
  private final RedisKeyFormat format;
  private final Duration timeout;
  private final Duration maxTtl;

  /**
   * A doctor.
   *
   * @param access makes builders that know how to get in
   * @param timeout how long a node has to answer everything
   * @param maxTtl the longest ttl that any client asks for
   */
  public Doctor(
      Supplier<RedisNodeBuilder> access, RedisKeyFormat format, Duration timeout, Duration maxTtl) {
    this.access = access;
    this.format = format;
    this.timeout = timeout;
    this.maxTtl = maxTtl;
  }

  /** A node by its whole URL, which is not shown, and its name, which is. */
  public record Patient(String name, String url) {}

  /**
   * Looks at all nodes; none delays another.
   *
   * @throws IllegalArgumentException if a URL is not accepted
   */
  public Diagnosis examine(List<Patient> patients) {
    var unused = access.get(); // what it refuses is refused at once
    RedisProbe.warmUp(); // not in the nodes' time
    List<CompletableFuture<NodeReport>> reports = new ArrayList<>();
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    for (int i = 0; i < patients.size(); i++) {
      Patient patient = patients.get(i);
      CompletableFuture<NodeReport> report = new CompletableFuture<>();
      Thread thread =
          new Thread(
              () -> examine(patient, patients.size(), deadlineNanos, report), "lukko-doctor-" + i);
      thread.setDaemon(true);
      thread.start();
      reports.add(report);
    }
    long endNanos = deadlineNanos + MARGIN.toNanos();
    List<NodeReport> all = new ArrayList<>();
    for (int i = 0; i < patients.size(); i++) {
      all.add(await(patients.get(i), reports.get(i), endNanos));
    }
    return Diagnosis.of(all, RedisRights.aclSetUser("lukko", format, List.of("YOUR-RESOURCES:*")));
  }

  private NodeReport await(Patient patient, CompletableFuture<NodeReport> report, long endNanos) {
    try {
      return report.get(Math.max(0, endNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException hangs) {
      return NodeReport.unreachable(patient.name(), late());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return NodeReport.unreachable(patient.name(), "interrupted");
    } catch (ExecutionException refused) {
      if (refused.getCause() instanceof IllegalArgumentException malformed) {
        throw malformed;
      }
      throw new IllegalStateException(refused.getCause());
    }
  }

  private String late() {
    return "no answer within " + Spans.show(timeout.toMillis());
  }

  private void examine(
      Patient patient, int nodes, long deadlineNanos, CompletableFuture<NodeReport> report) {
    try (RedisProbe probe = builder(timeout).probe(patient.url());
        RedisNode node = builder(timeout).connect(patient.url())) {
      Questions questions = new Questions(probe, deadlineNanos);
      report.complete(report(patient, statusOf(node, questions.left()).among(nodes), questions));
    } catch (LockException | OutOfTime unreachable) {
      report.complete(NodeReport.unreachable(patient.name(), why(unreachable, deadlineNanos)));
    } catch (RuntimeException | Error failed) {
      report.completeExceptionally(failed);
    }
  }

  /**
   * A server that has told who it is can be reached, though it may not answer everything in time.
   */
  private NodeReport report(Patient patient, NodeStatus status, Questions questions) {
    try {
      RedisAnswers answers = RedisAnswers.of(questions, format, maxTtl);
      return new NodeReport(
          patient.name(),
          status,
          RedisSections.of(answers, status),
          RedisFindings.of(answers, status, maxTtl));
    } catch (LockException | OutOfTime late) {
      if (status.state() == NodeStatus.State.UNREACHABLE) {
        throw late;
      }
      return new NodeReport(
          patient.name(),
          status,
          List.of(RedisSections.state(status)),
          List.of(
              Finding.warning(
                  "has not answered everything: " + why(late, questions.deadlineNanos()),
                  "what it has not told was not looked at",
                  "ask again with a longer --timeout")));
    }
  }

  /** What is left for the last question says nothing; the whole time does. */
  private String why(RuntimeException failure, long deadlineNanos) {
    return deadlineNanos - System.nanoTime() <= 0 ? late() : String.valueOf(failure.getMessage());
  }

  private RedisNodeBuilder builder(Duration connect) {
    return access.get().keyFormat(format).connectTimeout(connect).commandTimeout(timeout);
  }

  private NodeStatus statusOf(RedisNode node, Duration left) {
    try {
      return node.status().toCompletableFuture().get(left.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return NodeStatus.unreachable("interrupted");
    } catch (ExecutionException | TimeoutException hangs) {
      return NodeStatus.unreachable(late());
    }
  }
}
