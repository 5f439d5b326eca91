package dev.lukko.cli;

import dev.lukko.Holder;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What the nodes have stored for one resource, and what follows from it.
 *
 * @param resource the name that was asked for
 * @param answers one for each node, in the order of the nodes
 */
record Survey(String resource, List<Answer> answers) {

  Survey {
    answers = List.copyOf(answers);
  }

  /**
   * What one node said.
   *
   * @param node the node's name
   * @param inspection what it has stored, or empty if it did not answer
   * @param error why it did not answer, or an empty text
   * @param standing why it does not vote, though it answers; or an empty text
   */
  record Answer(String node, Optional<Inspection> inspection, String error, String standing) {

    Answer(String node, Optional<Inspection> inspection, String error) {
      this(node, inspection, error, "");
    }
  }

  /**
   * One acquisition, as the nodes that have its entry tell.
   *
   * @param fingerprint by which its entries were recognised
   * @param holder what one of them says of it
   * @param votes how many nodes have an entry of it
   * @param remaining how long a quorum keeps it if nobody extends it; empty if there is no quorum,
   *     or no expiry
   * @param token the fencing token; empty if there is no quorum that agrees on it
   */
  record Acquisition(
      String fingerprint,
      Holder holder,
      int votes,
      Optional<Duration> remaining,
      OptionalLong token) {}

  /** What can be said of the lock. */
  enum State {
    /** A quorum of nodes has an entry of one holder. */
    HELD,
    /** No holder has a quorum, whatever the nodes without an answer may have. */
    FREE,
    /** A holder would have a quorum if nodes without an answer have its entry. */
    MAYBE_HELD,
    /** Too few nodes answered. */
    UNKNOWN
  }

  /** Asks all nodes at once, and waits until all have answered or the time is over. */
  static Survey ask(List<? extends LockNode> nodes, String resource, Duration timeout) {
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    List<CompletableFuture<Inspection>> replies = new ArrayList<>();
    List<CompletableFuture<NodeStatus>> statuses = new ArrayList<>();
    for (LockNode node : nodes) {
      replies.add(node.inspect(resource).toCompletableFuture());
      statuses.add(node.status().toCompletableFuture());
    }
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < replies.size(); i++) {
      Answer answer = await(nodes.get(i).name(), replies.get(i), deadlineNanos, timeout);
      answers.add(
          answer.inspection().isEmpty()
              ? answer
              : new Answer(
                  answer.node(),
                  answer.inspection(),
                  answer.error(),
                  standing(statuses.get(i), deadlineNanos)));
    }
    return new Survey(resource, answers);
  }

  /** Why a node that answers does not vote; empty if it does, or does not say. */
  private static String standing(CompletableFuture<NodeStatus> reply, long deadlineNanos) {
    try {
      NodeStatus status =
          reply.get(Math.max(0, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
      return status.state() == NodeStatus.State.VOTING ? "" : status.describe();
    } catch (TimeoutException | ExecutionException silent) {
      return "";
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  private static Answer await(
      String node, CompletableFuture<Inspection> reply, long deadlineNanos, Duration timeout) {
    try {
      long leftNanos = Math.max(0, deadlineNanos - System.nanoTime());
      return new Answer(node, Optional.of(reply.get(leftNanos, TimeUnit.NANOSECONDS)), "");
    } catch (TimeoutException hangs) {
      return new Answer(node, Optional.empty(), "no answer within " + Durations.show(timeout));
    } catch (ExecutionException failed) {
      return new Answer(
          node, Optional.empty(), describe(failed.getCause() == null ? failed : failed.getCause()));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return new Answer(node, Optional.empty(), "interrupted");
    }
  }

  private static String describe(Throwable cause) {
    String message = cause.getMessage();
    return message == null || message.isBlank() ? cause.getClass().getSimpleName() : message;
  }

  int quorum() {
    return answers.size() / 2 + 1;
  }

  int answered() {
    return (int) answers.stream().filter(answer -> answer.inspection().isPresent()).count();
  }

  boolean hasQuorum() {
    return answered() >= quorum();
  }

  State state() {
    int mostVotes = acquisitions().stream().mapToInt(Acquisition::votes).max().orElse(0);
    int silent = answers.size() - answered();
    if (mostVotes >= quorum()) {
      return State.HELD;
    }
    if (!hasQuorum()) {
      return State.UNKNOWN;
    }
    return mostVotes > 0 && mostVotes + silent >= quorum() ? State.MAYBE_HELD : State.FREE;
  }

  /** The acquisitions that a quorum of the nodes has: one, or several shared ones. */
  List<Acquisition> holders() {
    return acquisitions().stream().filter(held -> held.votes() >= quorum()).toList();
  }

  /** All acquisitions of which a node has an entry, most votes first. */
  List<Acquisition> acquisitions() {
    Map<String, List<Vote>> votes = new LinkedHashMap<>();
    for (Answer answer : answers) {
      answer.inspection().ifPresent(inspection -> addVotes(inspection, votes));
    }
    return votes.entrySet().stream()
        .map(entry -> acquisition(entry.getKey(), entry.getValue()))
        .sorted(Comparator.comparingInt(Acquisition::votes).reversed())
        .toList();
  }

  private record Vote(Holder holder, OptionalLong counter) {}

  private static void addVotes(Inspection inspection, Map<String, List<Vote>> votes) {
    for (int i = 0; i < inspection.holders().size(); i++) {
      votes
          .computeIfAbsent(inspection.ownerFingerprints().get(i), unseen -> new ArrayList<>())
          .add(new Vote(inspection.holders().get(i), inspection.counter()));
    }
  }

  private Acquisition acquisition(String fingerprint, List<Vote> votes) {
    return new Acquisition(
        fingerprint, votes.get(0).holder(), votes.size(), remaining(votes), token(votes));
  }

  /** The lock ends when so many entries have ended that the rest is no quorum. */
  private Optional<Duration> remaining(List<Vote> votes) {
    List<Duration> longestFirst =
        votes.stream()
            .map(vote -> vote.holder().remaining())
            .flatMap(Optional::stream)
            .sorted(Comparator.reverseOrder())
            .toList();
    int endless = votes.size() - longestFirst.size();
    int decisive = quorum() - endless - 1;
    return decisive < 0 || decisive >= longestFirst.size()
        ? Optional.empty()
        : Optional.of(longestFirst.get(decisive));
  }

  /** A token is settled when a quorum has it; a single node's counter may be ahead of it. */
  private OptionalLong token(List<Vote> votes) {
    Map<Long, Integer> counts = new LinkedHashMap<>();
    for (Vote vote : votes) {
      vote.counter().ifPresent(counter -> counts.merge(counter, 1, Integer::sum));
    }
    return counts.entrySet().stream()
        .filter(entry -> entry.getValue() >= quorum())
        .mapToLong(Map.Entry::getKey)
        .findFirst();
  }
}
