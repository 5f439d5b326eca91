package dev.lukko.spec.epr;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A transition system and its invariant.
 *
 * @param constants symbols whose values never change
 * @param state symbols whose values the actions change
 * @param axioms what is assumed of the constants, by name
 * @param conjuncts the invariant, piece by piece, the properties among them
 * @param busy a state in which much has happened, a run without steps: each action must be possible
 *     in such a state
 * @param variants changes of the model, with what is expected of each
 * @param runs runs from the initial state that must be possible, or must not
 */
record Model(
    String name,
    List<String> sorts,
    List<Symbol> constants,
    List<Symbol> state,
    Map<String, Term> axioms,
    List<Definition> definitions,
    List<Term> initial,
    List<Action> actions,
    List<Conjunct> conjuncts,
    Run busy,
    Map<String, Variant> variants,
    List<Run> runs) {

  /** A relation (its result is {@code Bool}) or a function. */
  record Symbol(String name, List<String> arguments, String result) {}

  record Definition(String name, List<Variable> parameters, Term body) {}

  /** A step: possible for parameters that meet all requirements, in any order and at any time. */
  record Action(
      String name,
      List<Variable> parameters,
      Map<String, Term> requirements,
      List<Update> updates) {}

  /** The new value of a symbol at each place, in terms of the state before the step. */
  record Update(String symbol, List<Variable> parameters, Term body) {}

  /** A piece of the invariant; a property is what one wants, the others are what it needs. */
  record Conjunct(String name, Term formula, boolean isProperty) {}

  /**
   * A run from the initial state.
   *
   * @param possible the variants in which it must be possible
   * @param impossible the variants in which it must not be
   * @param bounds how many nodes there are and which of them are a quorum, and the run's constants
   * @param steps an action each, with some or all of its arguments; others are free
   * @param end what is so at its end
   */
  record Run(
      String name,
      List<String> possible,
      List<String> impossible,
      List<Term.Group> bounds,
      List<Term.Group> steps,
      Term end) {}

  Action action(String wanted) {
    return find(actions.stream().filter(each -> each.name().equals(wanted)), wanted);
  }

  Variant variant(String wanted) {
    return find(Optional.ofNullable(variants.get(wanted)).stream(), wanted);
  }

  /** The symbol of the state that has this name. */
  Symbol variable(String wanted) {
    return find(state.stream().filter(each -> each.name().equals(wanted)), wanted);
  }

  Model with(Map<String, Term> newAxioms, List<Action> newActions, List<Conjunct> newConjuncts) {
    return new Model(
        name,
        sorts,
        constants,
        state,
        newAxioms,
        definitions,
        initial,
        newActions,
        newConjuncts,
        busy,
        variants,
        runs);
  }

  /** The model with a smaller invariant. */
  Model without(Conjunct conjunct) {
    return with(
        axioms, actions, conjuncts.stream().filter(each -> !each.equals(conjunct)).toList());
  }

  private <T> T find(Stream<T> found, String wanted) {
    return found
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(name + " has no " + wanted));
  }
}
