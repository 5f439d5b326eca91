package dev.lukko.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lukko.Holder;
import dev.lukko.cli.Survey.Acquisition;
import dev.lukko.cli.Survey.Answer;
import dev.lukko.spi.Inspection;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The survey of a lock as one JSON object. */
final class StatusJson {

  private StatusJson() {}

  static void print(Survey survey, PrintWriter out) {
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("resource", survey.resource());
    root.put("state", survey.state().name().toLowerCase(Locale.ROOT).replace('_', '-'));
    root.put("nodesAnswered", survey.answered());
    root.put("quorum", survey.quorum());
    root.put("holders", survey.holders().stream().map(StatusJson::holder).toList());
    root.put("nodes", survey.answers().stream().map(StatusJson::node).toList());
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
    json.put("fencingToken", held.token().isPresent() ? held.token().getAsLong() : null);
    json.put("nodes", held.votes());
    json.put("fingerprint", held.fingerprint());
    return json;
  }

  private static Map<String, @Nullable Object> node(Answer answer) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("node", answer.node());
    json.put("answered", answer.inspection().isPresent());
    answer
        .inspection()
        .ifPresentOrElse(
            inspection -> {
              json.put(
                  "counter",
                  inspection.counter().isPresent() ? inspection.counter().getAsLong() : null);
              json.put("entries", entries(inspection));
              json.put("standing", answer.standing().isEmpty() ? "voting" : answer.standing());
            },
            () -> json.put("error", answer.error()));
    return json;
  }

  private static List<Map<String, @Nullable Object>> entries(Inspection inspection) {
    List<Map<String, @Nullable Object>> entries = new ArrayList<>();
    for (int i = 0; i < inspection.holders().size(); i++) {
      Holder holder = inspection.holders().get(i);
      Map<String, @Nullable Object> json = new LinkedHashMap<>();
      json.put("description", holder.description());
      json.put("since", holder.since().map(Instant::toString).orElse(null));
      json.put("remainingMillis", holder.remaining().map(left -> left.toMillis()).orElse(null));
      json.put("fingerprint", inspection.ownerFingerprints().get(i));
      entries.add(json);
    }
    return entries;
  }
}
