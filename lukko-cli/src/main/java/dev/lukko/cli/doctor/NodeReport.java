package dev.lukko.cli.doctor;

import dev.lukko.spi.NodeStatus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What was found at one node.
 *
 * @param node its address, without secrets
 * @param status whether it may vote
 * @param sections what it told, in order
 * @param findings what is wrong
 */
public record NodeReport(
    String node, NodeStatus status, List<Section> sections, List<Finding> findings) {

  /**
   * One subject.
   *
   * @param title its name
   * @param text for people, on one line
   * @param values for programs
   */
  public record Section(String title, String text, Map<String, @Nullable Object> values) {}

  public NodeReport {
    sections = List.copyOf(sections);
    findings = List.copyOf(findings);
  }

  /** A node of which nothing is known but why. */
  static NodeReport unreachable(String node, String cause) {
    return unreachable(
        node,
        cause,
        Finding.error(
            "cannot be asked: " + cause,
            "it does not vote; every lock is decided by the other nodes",
            "see whether the server runs, and whether its address, user and password are right and"
                + " reachable from this machine"));
  }

  /** The same with what it means for this kind of node. */
  static NodeReport unreachable(String node, String cause, Finding finding) {
    return new NodeReport(node, NodeStatus.unreachable(cause), List.of(), List.of(finding));
  }

  Optional<String> identity() {
    return status.identity();
  }

  boolean isVoting() {
    return status.state() == NodeStatus.State.VOTING
        && findings.stream().noneMatch(finding -> finding.level() == Finding.Level.ERROR);
  }
}
