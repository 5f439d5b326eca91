package dev.lukko.spec.epr;

import dev.lukko.spec.epr.Model.Definition;
import dev.lukko.spec.epr.Model.Symbol;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which sorts are made out of which, by functions and by "for all, there is".
 *
 * <p>Without a circle there are only finitely many terms, so there is a finite world for whatever
 * is possible, and a solver that goes through all instances ends with yes or no. This is what makes
 * the fragment decidable (effectively propositional logic with stratified sorts).
 */
final class Alternation {
  private final Map<String, Set<String>> madeOutOf = new TreeMap<>();
  private final Map<String, Term> definitions = new HashMap<>();

  void addFunction(Symbol symbol) {
    if (!symbol.result().equals("Bool")) {
      symbol.arguments().forEach(argument -> edge(argument, symbol.result()));
    }
  }

  void define(Definition definition) {
    definitions.put(definition.name(), definition.body());
  }

  void add(Term asserted) {
    visit(asserted, Side.POSITIVE, List.of());
  }

  /** Whether a term is asserted, its negation is, or it matters both ways. */
  private enum Side {
    POSITIVE,
    NEGATIVE,
    BOTH;

    Side opposite() {
      return switch (this) {
        case POSITIVE -> NEGATIVE;
        case NEGATIVE -> POSITIVE;
        case BOTH -> BOTH;
      };
    }
  }

  private void visit(Term term, Side side, List<String> universal) {
    if (term instanceof Term.Name name) {
      visitDefinition(name.text(), side, universal);
      return;
    }
    Term.Group group = term.asGroup();
    if (group.isQuantifier()) {
      visitQuantifier(group, side, universal);
      return;
    }
    switch (group.get(0) instanceof Term.Name head ? head.text() : "") {
      case "not" -> visit(group.get(1), side.opposite(), universal);
      case "=>" -> {
        int last = group.parts().size() - 1;
        group.parts().subList(1, last).forEach(part -> visit(part, side.opposite(), universal));
        visit(group.get(last), side, universal);
      }
      case "and", "or" -> group.from(1).forEach(part -> visit(part, side, universal));
      case "ite" -> {
        visit(group.get(1), Side.BOTH, universal);
        group.from(2).forEach(part -> visit(part, side, universal));
      }
      default -> {
        visitDefinition(group.get(0).text(), side, universal);
        group.from(1).forEach(part -> visit(part, Side.BOTH, universal));
      }
    }
  }

  private void visitDefinition(String name, Side side, List<String> universal) {
    Term body = definitions.get(name);
    if (body != null) {
      visit(body, side, universal);
    }
  }

  private void visitQuantifier(Term.Group quantifier, Side side, List<String> universal) {
    List<String> bound = Variable.list(quantifier.get(1)).stream().map(Variable::sort).toList();
    List<Side> sides = side == Side.BOTH ? List.of(Side.POSITIVE, Side.NEGATIVE) : List.of(side);
    for (Side each : sides) {
      if (quantifier.isHead("forall") == (each == Side.POSITIVE)) {
        List<String> more = new ArrayList<>(universal);
        more.addAll(bound);
        visit(quantifier.get(2), each, more);
      } else {
        universal.forEach(from -> bound.forEach(to -> edge(from, to)));
        visit(quantifier.get(2), each, universal);
      }
    }
  }

  private void edge(String from, String to) {
    madeOutOf.computeIfAbsent(from, sort -> new TreeSet<>()).add(to);
  }

  Optional<List<String>> circle() {
    Set<String> harmless = new LinkedHashSet<>();
    for (String sort : madeOutOf.keySet()) {
      Optional<List<String>> circle = circle(sort, new ArrayList<>(), harmless);
      if (circle.isPresent()) {
        return circle;
      }
    }
    return Optional.empty();
  }

  private Optional<List<String>> circle(String sort, List<String> path, Set<String> harmless) {
    if (harmless.contains(sort)) {
      return Optional.empty();
    }
    int met = path.indexOf(sort);
    path.add(sort);
    if (met >= 0) {
      return Optional.of(List.copyOf(path.subList(met, path.size())));
    }
    for (String next : madeOutOf.getOrDefault(sort, Set.of())) {
      Optional<List<String>> circle = circle(next, path, harmless);
      if (circle.isPresent()) {
        return circle;
      }
    }
    path.remove(path.size() - 1);
    harmless.add(sort);
    return Optional.empty();
  }
}
