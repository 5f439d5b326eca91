package dev.lukko;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A lock was not acquired. The subclass says why; the message says which resource, how long and how
 * often it was tried, and what each node answered in the last round. The nodes' underlying failures
 * are attached as suppressed.
 */
public abstract class LockNotAcquiredException extends LockException {
  private static final long serialVersionUID = 1L;

  private final transient Attempt attempt;

  LockNotAcquiredException(String what, Attempt attempt) {
    super(what + attempt.describe());
    this.attempt = attempt;
    for (NodeAnswer answer : attempt.answers()) {
      if (answer.cause() != null) {
        addSuppressed(answer.cause());
      }
    }
  }

  /** The names that were asked for. */
  public List<String> resources() {
    return attempt.resources();
  }

  /** How long the call tried, rounds and waits together. */
  public Duration waited() {
    return attempt.waited();
  }

  /** How many rounds were made. */
  public int rounds() {
    return attempt.rounds();
  }

  /**
   * Whether the call had leave to wait and has used it up: its wait budget, or its number of
   * retries. False if it gave up at once.
   */
  public boolean waitExhausted() {
    return attempt.waitExhausted();
  }

  /** Who waits for whom in a circle, if the call is part of a suspected deadlock; else empty. */
  public Optional<String> suspectedDeadlock() {
    return attempt.deadlock().isEmpty() ? Optional.empty() : Optional.of(attempt.deadlock());
  }

  /** What each node answered in the last round, in the order of the nodes. */
  public List<NodeAnswer> answers() {
    return attempt.answers();
  }

  /**
   * What was tried.
   *
   * @param resources the names that were asked for
   * @param waited how long the call tried, rounds and waits together
   * @param rounds how many rounds were made
   * @param waitExhausted whether a wait budget, or a number of retries, was used up
   * @param answers what each node answered in the last round
   * @param deadlock who waits for whom in a circle, or empty
   */
  public record Attempt(
      List<String> resources,
      Duration waited,
      int rounds,
      boolean waitExhausted,
      List<NodeAnswer> answers,
      String deadlock) {

    public Attempt {
      resources = List.copyOf(resources);
      answers = List.copyOf(answers);
    }

    /** An attempt without the suspicion of a deadlock. */
    public Attempt(
        List<String> resources,
        Duration waited,
        int rounds,
        boolean waitExhausted,
        List<NodeAnswer> answers) {
      this(resources, waited, rounds, waitExhausted, answers, "");
    }

    private String describe() {
      return " ("
          + (waitExhausted ? "gave up after " : "after ")
          + waited.toMillis()
          + " ms and "
          + rounds
          + (rounds == 1 ? " round)" : " rounds)")
          + (deadlock.isEmpty() ? "" : "; suspected deadlock: " + deadlock)
          + answers.stream()
              .map(NodeAnswer::toString)
              .collect(Collectors.joining("; ", "; nodes: [", "]"));
    }
  }
}
