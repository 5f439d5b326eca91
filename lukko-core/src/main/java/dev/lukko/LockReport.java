package dev.lukko;

import dev.lukko.text.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the nodes had stored for one resource when they were asked, and what follows from it.
 *
 * <p>A picture of a moment: it may be over when it is looked at. To act on a lock, acquire it.
 *
 * @param resource the name that was asked for
 * @param nodes what each node answered, in the order of the nodes
 */
public record LockReport(String resource, List<NodeEntries> nodes) {

  public LockReport {
    nodes = List.copyOf(nodes);
  }

  /**
   * What one node answered.
   *
   * @param node the node's name
   * @param answered whether it answered
   * @param entries the entries that it holds: none, one, or several shared ones
   * @param counter its fencing counter; empty if it has none
   * @param detail why it did not answer, or why it does not vote though it answers; may be empty
   */
  public record NodeEntries(
      String node, boolean answered, List<Entry> entries, OptionalLong counter, String detail) {

    public NodeEntries {
      detail = Printable.of(detail);
      entries = List.copyOf(entries);
    }

    /** A node that did not answer. */
    public static NodeEntries silent(String node, String detail) {
      return new NodeEntries(node, false, List.of(), OptionalLong.empty(), detail);
    }
  }

  /**
   * One entry at one node.
   *
   * @param holder what the entry says of its holder
   * @param fingerprint a short digest of the whole owner value, the same at every node that holds
   *     an entry of the same acquisition
   */
  public record Entry(Holder holder, String fingerprint) {}

  /**
   * One acquisition, as the nodes that hold an entry of it tell.
   *
   * @param fingerprint by which its entries were recognised
   * @param holder what one of them says of it
   * @param votes how many nodes hold an entry of it
   * @param remaining how long a quorum keeps it if nobody extends it; empty if there is no quorum,
   *     or no expiry
   * @param fencingToken its fencing token; empty if there is no quorum that agrees on it
   */
  public record Acquisition(
      String fingerprint,
      Holder holder,
      int votes,
      Optional<Duration> remaining,
      OptionalLong fencingToken) {}

  /** What can be said of the lock. */
  public enum State {
    /** A quorum of nodes holds entries of one acquisition. */
    HELD,
    /** No acquisition has a quorum, whatever the nodes without an answer may hold. */
    FREE,
    /** An acquisition has a quorum if nodes without an answer hold an entry of it. */
    MAYBE_HELD,
    /** Too few nodes answered. */
    UNKNOWN
  }

  /** How many nodes are a quorum. */
  public int quorum() {
    return nodes.size() / 2 + 1;
  }

  /** How many nodes answered. */
  public int answered() {
    return (int) nodes.stream().filter(NodeEntries::answered).count();
  }

  /** Whether a quorum of nodes answered. */
  public boolean hasQuorum() {
    return answered() >= quorum();
  }

  /** What can be said of the lock. */
  public State state() {
    int mostVotes = acquisitions().stream().mapToInt(Acquisition::votes).max().orElse(0);
    int silent = nodes.size() - answered();
    if (mostVotes >= quorum()) {
      return State.HELD;
    }
    if (!hasQuorum()) {
      return State.UNKNOWN;
    }
    return mostVotes > 0 && mostVotes + silent >= quorum() ? State.MAYBE_HELD : State.FREE;
  }

  /** The acquisitions that a quorum of the nodes holds: none, one, or several shared ones. */
  public List<Acquisition> holders() {
    return acquisitions().stream().filter(held -> held.votes() >= quorum()).toList();
  }

  /** All acquisitions of which a node holds an entry, most votes first. */
  public List<Acquisition> acquisitions() {
    Map<String, List<Vote>> votes = new LinkedHashMap<>();
    for (NodeEntries node : nodes) {
      for (Entry entry : node.entries()) {
        votes
            .computeIfAbsent(entry.fingerprint(), unseen -> new ArrayList<>())
            .add(new Vote(entry.holder(), node.counter()));
      }
    }
    return votes.entrySet().stream()
        .map(entry -> acquisition(entry.getKey(), entry.getValue()))
        .sorted(Comparator.comparingInt(Acquisition::votes).reversed())
        .toList();
  }

  private record Vote(Holder holder, OptionalLong counter) {}

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
