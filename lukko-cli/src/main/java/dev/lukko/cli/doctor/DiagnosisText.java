package dev.lukko.cli.doctor;

import dev.lukko.cli.doctor.NodeReport.Section;
import java.io.PrintWriter;

/** A diagnosis for people. */
public final class DiagnosisText {
  private static final int WIDTH = 12;

  private DiagnosisText() {}

  /** Prints it. */
  public static void print(Diagnosis diagnosis, PrintWriter out) {
    for (NodeReport node : diagnosis.nodes()) {
      out.println("node " + node.node() + ": " + verdict(node));
      for (Section section : node.sections()) {
        String gap = " ".repeat(Math.max(1, WIDTH - section.title().length()));
        out.println("  " + section.title() + gap + section.text());
      }
      node.findings().forEach(finding -> print(finding, out));
      out.println();
    }
    out.println(quorum(diagnosis));
    diagnosis.findings().forEach(finding -> print(finding, out));
    if (!diagnosis.leastRights().isEmpty()) {
      out.println();
      out.println("least rights for a user of these nodes:");
      out.println("  " + diagnosis.leastRights());
    }
  }

  /** One clause on a node. */
  static String verdict(NodeReport node) {
    return switch (node.status().state()) {
      case UNREACHABLE -> "unreachable";
      case UNFIT -> "unfit to vote";
      case QUARANTINED -> "does not vote yet";
      case UNMARKED, RESTARTED, CHANGED -> "awaits admission";
      case VOTING -> node.isVoting() ? "votes" : "votes, and should not as it is";
    };
  }

  private static String quorum(Diagnosis diagnosis) {
    return "quorum: "
        + diagnosis.voting()
        + " of "
        + diagnosis.nodes().size()
        + (diagnosis.nodes().size() == 1 ? " node votes, " : " nodes vote, ")
        + diagnosis.needed()
        + " needed; "
        + (diagnosis.awaiting() > 0
            ? diagnosis.awaiting() + " more with the first lock, which admits new nodes; "
            : "")
        + (diagnosis.hasQuorum()
            ? diagnosis.spare() == 0 ? "none may fail" : diagnosis.spare() + " more may fail"
            : "no lock can be taken");
  }

  private static void print(Finding finding, PrintWriter out) {
    boolean error = finding.level() == Finding.Level.ERROR;
    out.println("  " + (error ? "ERROR    " : "warning  ") + finding.what());
    out.println("    breaks   " + finding.breaks());
    out.println("    do       " + finding.remedy());
  }
}
