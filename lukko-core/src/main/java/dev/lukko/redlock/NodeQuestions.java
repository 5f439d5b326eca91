package dev.lukko.redlock;

import dev.lukko.ClientHealth;
import dev.lukko.LockReport;
import dev.lukko.LockReport.NodeEntries;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Questions to all nodes at once that change nothing, from a thread that waits for the answers; a
 * hung node costs its answer and no more than the timeout.
 */
final class NodeQuestions {
  private final List<LockNode> nodes;
  private final Duration timeout;
  private final Ticker ticker;

  NodeQuestions(List<LockNode> nodes, Duration timeout, Ticker ticker) {
    this.nodes = nodes;
    this.timeout = timeout;
    this.ticker = ticker;
  }

  /** What all nodes have stored for a resource. */
  LockReport inspect(String resource) {
    List<Question<Inspection>> entries = askAll(node -> node.inspect(resource));
    List<Question<NodeStatus>> statuses = askAll(LockNode::status);
    List<NodeEntries> answers = new ArrayList<>(nodes.size());
    long deadlineNanos = deadlineNanos();
    for (int i = 0; i < nodes.size(); i++) {
      Answer<Inspection> answer = entries.get(i).await(deadlineNanos);
      String name = nodes.get(i).name();
      answers.add(
          answer.value() == null
              ? NodeEntries.silent(name, answer.error())
              : entriesOf(name, answer.value(), statuses.get(i).await(deadlineNanos).value()));
    }
    return new LockReport(resource, answers);
  }

  private NodeEntries entriesOf(String node, Inspection inspection, @Nullable NodeStatus status) {
    List<LockReport.Entry> entries = new ArrayList<>();
    for (int i = 0; i < inspection.holders().size(); i++) {
      entries.add(
          new LockReport.Entry(inspection.holders().get(i), inspection.ownerFingerprints().get(i)));
    }
    return new NodeEntries(node, true, entries, inspection.counter(), reasonNotToVote(status));
  }

  private String reasonNotToVote(@Nullable NodeStatus told) {
    NodeStatus status = told == null ? null : told.among(nodes.size());
    return status == null || status.state() == NodeStatus.State.VOTING ? "" : status.describe();
  }

  /** Whether all nodes are well. */
  ClientHealth health() {
    List<Question<NodeStatus>> statuses = askAll(LockNode::status);
    List<ClientHealth.Node> answers = new ArrayList<>(nodes.size());
    long deadlineNanos = deadlineNanos();
    for (int i = 0; i < nodes.size(); i++) {
      Answer<NodeStatus> answer = statuses.get(i).await(deadlineNanos);
      NodeStatus status =
          answer.value() == null
              ? NodeStatus.unreachable(answer.error())
              : answer.value().among(nodes.size());
      ClientHealth.State state = stateOf(status);
      answers.add(
          new ClientHealth.Node(
              nodes.get(i).name(),
              state,
              state == ClientHealth.State.UNREACHABLE
                  ? Optional.empty()
                  : Optional.of(answer.latency()),
              state == ClientHealth.State.VOTING ? "" : status.describe(),
              status.warnings()));
    }
    return new ClientHealth(answers);
  }

  private static ClientHealth.State stateOf(NodeStatus status) {
    return switch (status.state()) {
      case VOTING -> ClientHealth.State.VOTING;
      case UNMARKED, RESTARTED, CHANGED -> ClientHealth.State.AWAITING_ADMISSION;
      case QUARANTINED -> ClientHealth.State.QUARANTINED;
      case UNFIT -> ClientHealth.State.INCOMPATIBLE;
      case UNREACHABLE -> ClientHealth.State.UNREACHABLE;
    };
  }

  private long deadlineNanos() {
    return ticker.nanoTime() + timeout.toNanos();
  }

  private <T> List<Question<T>> askAll(
      Function<LockNode, ? extends @Nullable CompletionStage<T>> verb) {
    List<Question<T>> questions = new ArrayList<>(nodes.size());
    for (LockNode node : nodes) {
      questions.add(new Question<>(node, verb));
    }
    return questions;
  }

  /**
   * An answer.
   *
   * @param value the answer, or null if there is none
   * @param error why there is none
   */
  private record Answer<T>(@Nullable T value, String error, Duration latency) {}

  /** One question to one node, on its way. */
  private final class Question<T> {
    private final long startNanos = ticker.nanoTime();
    private final CompletableFuture<Answer<T>> answer = new CompletableFuture<>();

    Question(LockNode node, Function<LockNode, ? extends @Nullable CompletionStage<T>> verb) {
      CompletionStage<T> stage;
      try {
        stage = verb.apply(node);
      } catch (Throwable broken) {
        answer.complete(failed("the node threw " + broken));
        return;
      }
      if (stage == null) {
        answer.complete(failed("the node gave no stage"));
        return;
      }
      stage.whenComplete(
          (value, failure) ->
              answer.complete(
                  value == null
                      ? failed(describe(failure))
                      : new Answer<>(value, "", Duration.ofNanos(ticker.nanoTime() - startNanos))));
    }

    private Answer<T> failed(String error) {
      return new Answer<>(null, error, Duration.ZERO);
    }

    Answer<T> await(long deadlineNanos) {
      try {
        return answer.get(Math.max(0, deadlineNanos - ticker.nanoTime()), TimeUnit.NANOSECONDS);
      } catch (TimeoutException silent) {
        return failed("no answer within " + timeout.toMillis() + " ms");
      } catch (ExecutionException impossible) {
        return failed(describe(impossible.getCause()));
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        return failed("interrupted");
      }
    }
  }

  private static String describe(@Nullable Throwable failure) {
    if (failure == null) {
      return "the node gave no reply";
    }
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    String message = cause.getMessage();
    return message == null || message.isBlank() ? cause.getClass().getSimpleName() : message;
  }
}
