package dev.lukko.cli.doctor;

import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What was found at all nodes, and what follows for the quorum.
 *
 * @param nodes one report for each
 * @param findings about the nodes as a whole
 * @param leastRights the line that makes a user with the least rights, or empty
 */
public record Diagnosis(List<NodeReport> nodes, List<Finding> findings, String leastRights) {

  public Diagnosis {
    nodes = List.copyOf(nodes);
    findings = List.copyOf(findings);
  }

  /** Draws the conclusions that need all nodes. */
  static Diagnosis of(List<NodeReport> reports, String leastRights) {
    Map<String, String> nodeByIdentity = new HashMap<>();
    List<NodeReport> nodes = new ArrayList<>();
    for (NodeReport report : reports) {
      List<Finding> all = new ArrayList<>(report.findings());
      String other =
          report.identity().map(run -> nodeByIdentity.putIfAbsent(run, report.node())).orElse(null);
      if (other != null) {
        all.add(
            Finding.error(
                "is the same server as " + other,
                "it would vote twice, so that one server alone could grant a lock; clients refuse"
                    + " to start",
                "name each server once, by one address"));
      }
      if (reports.size() > 1
          && report.status().traits().contains(NodeStatus.Trait.CLUSTER_MEMBER)) {
        all.add(
            Finding.error(
                "belongs to a cluster",
                "a cluster moves keys and fails over by itself; clients refuse it as one of several"
                    + " nodes",
                "use servers of their own, or the cluster as the only node"));
      }
      all.addAll(otherFleets(report, reports.size()));
      nodes.add(new NodeReport(report.node(), report.status(), report.sections(), all));
    }
    List<Finding> findings = new ArrayList<>();
    Diagnosis draft = new Diagnosis(nodes, List.of(), leastRights);
    if (!draft.hasQuorum()) {
      findings.add(
          Finding.error(
              draft.voting() + " of " + nodes.size() + " nodes vote, " + draft.needed() + " needed",
              "no lock can be taken",
              "see to the nodes that do not vote, above"));
    }
    if (nodes.size() % 2 == 0) {
      findings.add(
          Finding.warning(
              "the number of nodes, " + nodes.size() + ", is even",
              "it bears no more failures than " + (nodes.size() - 1) + " would",
              "add a node, or take one away"));
    }
    return new Diagnosis(nodes, findings, leastRights);
  }

  /** What a server has to do with fleets of another size than the nodes that are asked. */
  private static List<Finding> otherFleets(NodeReport report, int size) {
    FleetMemory memory = report.status().memory();
    List<Finding> findings = new ArrayList<>();
    for (FleetRecord record : memory == null ? List.<FleetRecord>of() : memory.records()) {
      if (record.isJoint()) {
        findings.add(
            Finding.warning(
                "is in the middle of a change of the nodes of " + record.describe(),
                "every lock needs a majority of the former nodes and of the next ones",
                "if nobody is changing it now, run lukko fleet change again with the nodes with"
                    + " which it was begun"));
      } else if (record.size() != size && record.isMember()) {
        findings.add(
            Finding.warning(
                "serves "
                    + record.describe()
                    + ", and "
                    + size
                    + (size == 1 ? " is asked" : " are asked")
                    + " here",
                "clients that list different nodes do not exclude each other",
                "let all clients list the same nodes; if they do by now, remove the field \""
                    + record.key()
                    + "\" of the key of the fleets"));
      }
    }
    return findings;
  }

  /** How many nodes must vote for the same lock. */
  public int needed() {
    return nodes.size() / 2 + 1;
  }

  /** How many nodes vote now. */
  public int voting() {
    return (int) nodes.stream().filter(NodeReport::isVoting).count();
  }

  /**
   * How many nodes vote with the first lock: all that await admission if they are a majority, which
   * is a new deployment; else none.
   */
  public int awaiting() {
    int awaiting = (int) nodes.stream().filter(Diagnosis::awaits).count();
    return awaiting >= needed() ? awaiting : 0;
  }

  private static boolean awaits(NodeReport node) {
    return node.status().awaitsAdmission()
        && node.findings().stream().noneMatch(found -> found.level() == Finding.Level.ERROR);
  }

  public boolean hasQuorum() {
    return voting() + awaiting() >= needed();
  }

  /** How many more nodes may fail; zero if there is no quorum. */
  public int spare() {
    return Math.max(0, voting() + awaiting() - needed());
  }

  /** Whether nothing is wrong that must be put right. */
  public boolean isHealthy() {
    return findings.stream().noneMatch(found -> found.level() == Finding.Level.ERROR)
        && nodes.stream()
            .flatMap(node -> node.findings().stream())
            .noneMatch(found -> found.level() == Finding.Level.ERROR);
  }
}
