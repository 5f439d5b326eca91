package dev.lukko.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lukko.Holder;
import dev.lukko.LockReport;
import dev.lukko.LockReport.Acquisition;
import dev.lukko.LockReport.NodeEntries;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The report on a lock as one JSON object. */
final class StatusJson {

  private StatusJson() {}

  static void print(LockReport report, String headline, PrintWriter out) {
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("resource", report.resource());
    if (!headline.isEmpty()) {
      root.put("note", headline);
    }
    root.put("state", report.state().name().toLowerCase(Locale.ROOT).replace('_', '-'));
    root.put("nodesAnswered", report.answered());
    root.put("quorum", report.quorum());
    root.put("holders", report.holders().stream().map(StatusJson::holder).toList());
    root.put("nodes", report.nodes().stream().map(StatusJson::node).toList());
    try {
      new ObjectMapper().disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET).writeValue(out, root);
      out.println();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static Map<String, @Nullable Object> holder(Acquisition held) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("description", held.holder().description());
    json.put("since", held.holder().since().map(Instant::toString).orElse(null));
    json.put("remainingMillis", held.remaining().map(left -> left.toMillis()).orElse(null));
    json.put(
        "fencingToken", held.fencingToken().isPresent() ? held.fencingToken().getAsLong() : null);
    json.put("nodes", held.votes());
    json.put("fingerprint", held.fingerprint());
    return json;
  }

  private static Map<String, @Nullable Object> node(NodeEntries node) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("node", node.node());
    json.put("answered", node.answered());
    if (node.answered()) {
      json.put("counter", node.counter().isPresent() ? node.counter().getAsLong() : null);
      json.put("entries", node.entries().stream().map(StatusJson::entry).toList());
      json.put("standing", node.detail().isEmpty() ? "voting" : node.detail());
    } else {
      json.put("error", node.detail());
    }
    return json;
  }

  private static Map<String, @Nullable Object> entry(LockReport.Entry entry) {
    Holder holder = entry.holder();
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("description", holder.description());
    json.put("since", holder.since().map(Instant::toString).orElse(null));
    json.put("remainingMillis", holder.remaining().map(left -> left.toMillis()).orElse(null));
    json.put("fingerprint", entry.fingerprint());
    return json;
  }
}
