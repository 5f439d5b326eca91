package dev.lukko.testkit.sim;

import dev.lukko.release.CreatingRequest;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A request on its way to a node, and what is going to happen to it and to its reply. */
final class Message<R> implements CreatingRequest {
  final Verb verb;
  final @Nullable Acquisition acquisition;
  final Function<SimNode, R> call;
  final Function<String, R> fault;
  final CompletableFuture<R> reply = new CompletableFuture<>();
  long sentAt;
  boolean requestLost;
  boolean replyLost;
  boolean overtaken;
  boolean reset;
  long requestDelayNanos;
  long replyDelayNanos;
  long repeatAfterNanos = -1;

  /** On which connection it was sent. */
  Connection.Wire sentOn = new Connection.Wire();

  /** Whether the client heard of the end of that connection in place of a reply. */
  boolean connectionEnded;

  private boolean answered;

  /**
   * A request.
   *
   * @param call what the node does
   * @param fault the reply that stands for a node that did not answer
   */
  Message(
      Verb verb,
      @Nullable Acquisition acquisition,
      Function<SimNode, R> call,
      Function<String, R> fault) {
    this.verb = verb;
    this.acquisition = acquisition;
    this.call = call;
    this.fault = fault;
  }

  /** The same request, to be sent another time. */
  Message<R> again() {
    return new Message<>(verb, acquisition, call, fault);
  }

  /** The node's reply has come, in time or not. */
  void answered() {
    answered = true;
  }

  @Override
  public boolean isAnswered() {
    return answered;
  }

  @Override
  public boolean mayFollow(Object connection) {
    return sentOn != connection && !answered;
  }

  /** Nothing is sent twice here. */
  @Override
  public void withdraw() {}

  void strike(Act act, long nanos) {
    switch (act) {
      case LOSE_REQUEST -> requestLost = true;
      case LOSE_REPLY -> replyLost = true;
      case DELAY_REQUEST -> requestDelayNanos = nanos;
      case OVERTAKEN_REQUEST -> {
        requestDelayNanos = nanos;
        overtaken = true;
      }
      case RESET -> {
        reset = true;
        requestLost = nanos < 1_000_000;
        requestDelayNanos = nanos;
        overtaken = true;
      }
      case DELAY_REPLY -> replyDelayNanos = nanos;
      case REPEAT -> repeatAfterNanos = nanos;
      default -> {}
    }
  }
}
