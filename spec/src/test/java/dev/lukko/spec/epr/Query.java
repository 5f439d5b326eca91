package dev.lukko.spec.epr;

import dev.lukko.spec.epr.Model.Definition;
import dev.lukko.spec.epr.Model.Symbol;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A question for the solver: can all that is asserted be so at once. */
final class Query {
  private final List<String> lines = new ArrayList<>();
  private final Alternation alternation = new Alternation();

  void sort(String name) {
    lines.add("(declare-sort " + name + " 0)");
  }

  void declare(String name, Symbol symbol) {
    lines.add(
        "(declare-fun %s (%s) %s)"
            .formatted(name, String.join(" ", symbol.arguments()), symbol.result()));
    alternation.addFunction(symbol);
  }

  void constant(String name, String sort) {
    declare(name, new Symbol(name, List.of(), sort));
  }

  /** Gives a name to a term, to be read in its place. */
  void define(Definition definition, String result) {
    lines.add(
        "(define-fun %s %s %s %s)"
            .formatted(
                definition.name(),
                Variable.toTerm(definition.parameters()),
                result,
                definition.body()));
    alternation.define(definition);
  }

  void require(Term formula, String why) {
    lines.add("(assert " + formula + ") ; " + why);
    alternation.add(formula);
  }

  /**
   * Why the question might not be decidable: a circle of sorts, each made out of the one before.
   */
  Optional<List<String>> circle() {
    return alternation.circle();
  }

  /** The question in SMT-LIB 2, with what is to be told of a world in which the answer is yes. */
  String text(List<Term> wanted) {
    String values = wanted.isEmpty() ? "" : "(get-value " + new Term.Group(wanted) + ")\n";
    return String.join("\n", lines) + "\n(check-sat)\n" + values;
  }

  @Override
  public String toString() {
    return text(List.of());
  }
}
