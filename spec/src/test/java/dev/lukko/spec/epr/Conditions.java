package dev.lukko.spec.epr;

import dev.lukko.spec.epr.Model.Action;
import dev.lukko.spec.epr.Model.Conjunct;
import dev.lukko.spec.epr.Model.Definition;
import dev.lukko.spec.epr.Model.Run;
import dev.lukko.spec.epr.Model.Symbol;
import dev.lukko.spec.epr.Model.Update;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The verification conditions of a model.
 *
 * <p>A symbol of the state has a name for each of its values: {@code counter@0} before the first
 * step, {@code counter@1} after it, and so on. Terms of the model are made to speak of one state by
 * replacing names.
 */
final class Conditions {
  private final Model model;
  private final Query query = new Query();

  /** After how many steps, each name of the state and each definition, and what it is called. */
  private final List<Map<String, String>> states = new ArrayList<>();

  /** For each step, what its action's parameters are called. */
  private final List<Map<String, String>> steps = new ArrayList<>();

  private Conditions(Model model) {
    this.model = model;
    model.sorts().forEach(query::sort);
    model.constants().forEach(symbol -> query.declare(symbol.name(), symbol));
    Map<String, String> first = new HashMap<>();
    for (Symbol symbol : model.state()) {
      first.put(symbol.name(), symbol.name() + "@0");
      query.declare(symbol.name() + "@0", symbol);
    }
    add(first);
    model.axioms().forEach((name, axiom) -> query.require(axiom, "axiom " + name));
  }

  /** Can the initial state break a conjunct? */
  static Query initially(Model model, Conjunct conjunct) {
    Conditions conditions = new Conditions(model);
    model.initial().forEach(initial -> conditions.require(initial, "at the beginning"));
    conditions.require(Term.not(conjunct.formula()), "not " + conjunct.name());
    return conditions.query;
  }

  /** Can an action lead from a state of the invariant to one that breaks a conjunct? */
  static Query kept(Model model, Action action, Conjunct conjunct) {
    return kept(new Conditions(model), action, conjunct);
  }

  /** The same on the few nodes of the model's busy state: what is possible there is soon found. */
  static Query keptOnFewNodes(Model model, Action action, Conjunct conjunct) {
    Conditions conditions = new Conditions(model);
    conditions.bound(model.busy());
    return kept(conditions, action, conjunct);
  }

  private static Query kept(Conditions conditions, Action action, Conjunct conjunct) {
    conditions.invariant();
    conditions.step(action, List.of());
    conditions.require(Term.not(conjunct.formula()), "not " + conjunct.name() + " afterwards");
    return conditions.query;
  }

  /** Is an action possible in a busy state of the invariant? */
  static Query possible(Model model, Action action) {
    Conditions conditions = new Conditions(model);
    conditions.invariant();
    conditions.bound(model.busy());
    conditions.require(model.busy().end(), "busy");
    conditions.step(action, List.of());
    return conditions.query;
  }

  /** Is there a run? */
  static Query run(Model model, Run run) {
    return of(model, run).query;
  }

  static Conditions of(Model model, Run run) {
    Conditions conditions = new Conditions(model);
    conditions.bound(run);
    model.initial().forEach(initial -> conditions.require(initial, "at the beginning"));
    for (Term.Group step : run.steps()) {
      conditions.step(model.action(step.get(0).text()), step.from(1));
    }
    conditions.query.require(conditions.atTheEnd(run.end()), "at the end");
    return conditions;
  }

  Query query() {
    return query;
  }

  /** What a symbol of the state is called after so many steps. */
  String nameAfter(int number, String symbol) {
    String name = states.get(number).get(symbol);
    if (name == null) {
      throw new IllegalArgumentException(model.name() + " has no " + symbol);
    }
    return name;
  }

  /** What the parameters of a step's action are called. */
  Map<String, String> argumentsOf(int step) {
    return steps.get(step);
  }

  private void bound(Run run) {
    for (Term.Group bound : run.bounds()) {
      if (bound.isHead("const")) {
        query.constant(bound.get(1).text(), bound.get(2).text());
      } else {
        query.require(bound, "bound");
      }
    }
  }

  private void invariant() {
    for (Conjunct conjunct : model.conjuncts()) {
      require(conjunct.formula(), conjunct.name());
    }
  }

  private void require(Term formula, String why) {
    query.require(formula.replace(states.get(states.size() - 1)), why);
  }

  /** Adds a state, in which the definitions are read anew. */
  private void add(Map<String, String> names) {
    Map<String, String> state = new HashMap<>(names);
    int number = states.size();
    for (Definition definition : model.definitions()) {
      String name = definition.name() + "@" + number;
      query.define(
          new Definition(name, definition.parameters(), definition.body().replace(state)), "Bool");
      state.put(definition.name(), name);
    }
    states.add(state);
  }

  /** Adds a step; a parameter without an argument, or with {@code _}, is free. */
  private void step(Action action, List<Term> arguments) {
    int number = states.size();
    if (arguments.size() > action.parameters().size()) {
      throw new IllegalArgumentException("too many arguments for " + action.name());
    }
    Map<String, String> before = new HashMap<>(states.get(number - 1));
    for (int i = 0; i < action.parameters().size(); i++) {
      Variable parameter = action.parameters().get(i);
      if (i < arguments.size() && !arguments.get(i).equals(Term.name("_"))) {
        before.put(parameter.name(), arguments.get(i).text());
      } else {
        String free = parameter.name() + "@" + number;
        query.constant(free, parameter.sort());
        before.put(parameter.name(), free);
      }
    }
    Map<String, String> called = new HashMap<>();
    action
        .parameters()
        .forEach(it -> called.put(it.name(), before.getOrDefault(it.name(), it.name())));
    steps.add(called);
    action
        .requirements()
        .forEach(
            (name, formula) ->
                query.require(formula.replace(before), action.name() + " requires " + name));
    Map<String, String> after = new HashMap<>(states.get(number - 1));
    model.definitions().forEach(definition -> after.remove(definition.name()));
    for (Update update : action.updates()) {
      String name = update.symbol() + "@" + number;
      query.define(
          new Definition(name, update.parameters(), update.body().replace(before)),
          model.variable(update.symbol()).result());
      after.put(update.symbol(), name);
    }
    add(after);
  }

  /** A term about the last state, in which {@code (after n term)} is about an earlier one. */
  private Term atTheEnd(Term term) {
    return earlier(term).replace(states.get(states.size() - 1));
  }

  private Term earlier(Term term) {
    if (!(term instanceof Term.Group group) || group.parts().isEmpty()) {
      return term;
    }
    if (group.isHead("after")) {
      return group.get(2).replace(states.get(Integer.parseInt(group.get(1).text())));
    }
    return new Term.Group(group.parts().stream().map(this::earlier).toList());
  }
}
