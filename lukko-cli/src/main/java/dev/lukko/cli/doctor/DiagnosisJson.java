package dev.lukko.cli.doctor;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A diagnosis for programs. */
public final class DiagnosisJson {
  private DiagnosisJson() {}

  /** The diagnosis as maps, lists, texts and numbers. */
  public static Map<String, @Nullable Object> of(Diagnosis diagnosis) {
    Map<String, @Nullable Object> root = new LinkedHashMap<>();
    root.put("healthy", diagnosis.isHealthy());
    root.put("voting", diagnosis.voting());
    root.put("awaitingAdmission", diagnosis.awaiting());
    root.put("quorum", diagnosis.needed());
    root.put("spare", diagnosis.spare());
    root.put("findings", findings(diagnosis.findings()));
    root.put("nodes", diagnosis.nodes().stream().map(DiagnosisJson::node).toList());
    root.put("leastRights", diagnosis.leastRights());
    return root;
  }

  private static Map<String, @Nullable Object> node(NodeReport node) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("node", node.node());
    json.put("verdict", DiagnosisText.verdict(node));
    json.put("votes", node.isVoting());
    node.sections().forEach(section -> json.put(section.title(), section.values()));
    json.put("findings", findings(node.findings()));
    return json;
  }

  private static List<Map<String, Object>> findings(List<Finding> findings) {
    return findings.stream()
        .map(
            finding -> {
              Map<String, Object> json = new LinkedHashMap<>();
              json.put("level", finding.level().name().toLowerCase(Locale.ROOT));
              json.put("what", finding.what());
              json.put("breaks", finding.breaks());
              json.put("do", finding.remedy());
              return json;
            })
        .toList();
  }
}
