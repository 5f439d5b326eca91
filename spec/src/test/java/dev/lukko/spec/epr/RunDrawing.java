package dev.lukko.spec.epr;

import dev.lukko.spec.epr.Model.Action;
import dev.lukko.spec.epr.Model.Run;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A run drawn as a sequence: a line for each node, a row for each step, with the numbers that the
 * solver has chosen, as small as their order allows.
 */
final class RunDrawing {
  private static final int LEFT = 230;
  private static final int LANE = 150;
  private static final int ROW = 26;
  private static final int TOP = 56;

  private final Model model;
  private final Run run;
  private final Conditions conditions;
  private final Map<Term, Term> values = new HashMap<>();
  private final Map<Term, String> names = new HashMap<>();
  private final List<String> nodes = new ArrayList<>();

  private RunDrawing(Model model, Run run) {
    this.model = model;
    this.run = run;
    this.conditions = Conditions.of(model, run);
  }

  static String svg(Model model, Run run) {
    RunDrawing drawing = new RunDrawing(model, run);
    drawing.ask();
    return drawing.draw();
  }

  /** Asks for all arguments and counters, and then for the order of the numbers among them. */
  private void ask() {
    List<Term> wanted = new ArrayList<>();
    List<Term> numbers = new ArrayList<>();
    for (Term.Group bound : run.bounds()) {
      if (bound.isHead("const")) {
        wanted.add(bound.get(1));
        if (bound.get(2).text().equals("Node")) {
          nodes.add(bound.get(1).text());
        }
      }
    }
    for (int i = 0; i < run.steps().size(); i++) {
      for (Variable parameter : action(i).parameters()) {
        Term argument = argument(i, parameter);
        wanted.add(argument);
        if (parameter.sort().equals("Num")) {
          numbers.add(argument);
        }
      }
    }
    for (int i = 0; i <= run.steps().size(); i++) {
      for (String node : nodes) {
        numbers.add(counter(i, node));
      }
    }
    List<Term> below = new ArrayList<>();
    for (Term one : numbers) {
      for (Term other : numbers) {
        below.add(Term.group(Term.name("below"), one, other));
      }
    }
    wanted.addAll(numbers);
    wanted.addAll(below);
    for (Term pair : Z3.decide(conditions.query(), wanted).values()) {
      values.put(pair.asGroup().get(0), pair.asGroup().get(1));
    }
    run.bounds().stream()
        .filter(bound -> bound.isHead("const"))
        .forEach(bound -> names.putIfAbsent(value(bound.get(1)), bound.get(1).text()));
    Map<Term, Term> distinct = new LinkedHashMap<>();
    numbers.forEach(number -> distinct.putIfAbsent(value(number), number));
    distinct.forEach(
        (value, number) ->
            names.put(
                value,
                Long.toString(
                    distinct.values().stream()
                        .filter(
                            other ->
                                value(Term.group(Term.name("below"), other, number))
                                    .equals(Term.name("true")))
                        .count())));
  }

  private Action action(int step) {
    return model.action(run.steps().get(step).get(0).text());
  }

  private Term argument(int step, Variable parameter) {
    return Term.name(conditions.argumentsOf(step).getOrDefault(parameter.name(), ""));
  }

  private Term counter(int after, String node) {
    return Term.group(Term.name(conditions.nameAfter(after, "counter")), Term.name(node));
  }

  private Term value(Term term) {
    Term value = values.get(term);
    if (value == null) {
      throw new IllegalStateException("the solver gave no value of " + term);
    }
    return value;
  }

  private String shown(Term term) {
    return names.getOrDefault(value(term), "?");
  }

  private String draw() {
    int width = LEFT + nodes.size() * LANE;
    int height = TOP + run.steps().size() * ROW + 20;
    StringBuilder svg = new StringBuilder();
    svg.append(
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">
        <title>%s</title>
        <rect width="%d" height="%d" fill="#fff"/>
        """
            .formatted(width, height, run.name(), width, height));
    text(svg, 16, 22, "#222", "start", run.name());
    for (int lane = 0; lane < nodes.size(); lane++) {
      int x = laneAt(lane);
      text(svg, x, 22, "#222", "middle", nodes.get(lane));
      text(svg, x, 40, "#777", "middle", "counter " + shown(counter(0, nodes.get(lane))));
      svg.append(
          "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#bbb\"/>%n"
              .formatted(x, TOP - 8, x, height - 10));
    }
    for (int step = 0; step < run.steps().size(); step++) {
      step(svg, step);
    }
    return svg.append("</svg>\n").toString().replace("\r\n", "\n");
  }

  private void step(StringBuilder svg, int step) {
    int y = TOP + step * ROW + 14;
    List<String> words = new ArrayList<>(List.of(action(step).name()));
    int lane = -1;
    for (Variable parameter : action(step).parameters()) {
      String shown = shown(argument(step, parameter));
      switch (parameter.sort()) {
        case "Node" -> lane = nodes.indexOf(shown);
        case "Quorum" -> {}
        default -> words.add(shown);
      }
    }
    String said = (step + 1) + "  " + String.join(" ", words);
    if (lane < 0) {
      text(svg, 16, y, "#222", "start", said);
      return;
    }
    String node = nodes.get(lane);
    String before = shown(counter(step, node));
    String after = shown(counter(step + 1, node));
    text(svg, 16, y, "#888", "start", said + " at " + node);
    svg.append(
        "<rect x=\"%d\" y=\"%d\" width=\"136\" height=\"20\" rx=\"4\" fill=\"%s\" stroke=\"#666\"/>%n"
            .formatted(laneAt(lane) - 68, y - 14, color(words)));
    text(
        svg,
        laneAt(lane),
        y,
        "#222",
        "middle",
        String.join(" ", words) + (before.equals(after) ? "" : ", " + before + "→" + after));
  }

  /** A color for each owner, grey for what concerns none. */
  private static String color(List<String> words) {
    if (words.contains("A")) {
      return "#cfe3ff";
    }
    if (words.contains("B")) {
      return "#ffe0c2";
    }
    return words.contains("C") ? "#d6f2d0" : "#eee";
  }

  private static int laneAt(int lane) {
    return LEFT + lane * LANE + LANE / 2;
  }

  private static void text(
      StringBuilder svg, int x, int y, String color, String anchor, String words) {
    svg.append(
        "<text x=\"%d\" y=\"%d\" fill=\"%s\" text-anchor=\"%s\">%s</text>%n"
            .formatted(x, y, color, anchor, words));
  }
}
