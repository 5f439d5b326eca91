package dev.lukko.spec.epr;

import dev.lukko.spec.epr.Model.Action;
import dev.lukko.spec.epr.Model.Conjunct;
import dev.lukko.spec.epr.Model.Update;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A change of a model, with what is expected of it.
 *
 * @param expected whether its invariant is inductive
 * @param edits what is changed, in this order
 */
record Variant(String name, Expected expected, List<Term.Group> edits) {
  /** The name under which runs call the model as it is. */
  static final String PROTOCOL = "protocol";

  /** What is expected of a changed model. */
  enum Expected {
    /** The invariant is inductive. */
    PROVED,
    /** Some action leads from a state of the invariant out of it. */
    REFUTED
  }

  static Variant read(Term.Group form) {
    Expected expected =
        switch (form.get(2).text()) {
          case "proved" -> Expected.PROVED;
          case "refuted" -> Expected.REFUTED;
          default -> throw new IllegalArgumentException("a variant is proved or refuted");
        };
    return new Variant(
        form.get(1).text(), expected, form.from(3).stream().map(Term::asGroup).toList());
  }

  Model applyTo(Model model) {
    Model changed = model;
    for (Term.Group edit : edits) {
      changed = applied(changed, edit);
    }
    return changed;
  }

  private Model applied(Model model, Term.Group edit) {
    String first = edit.get(1).text();
    return switch (edit.get(0).text()) {
      case "require" ->
          edited(model, first, action -> requiring(action, edit.get(2).text(), edit.get(3), true));
      case "require-also" ->
          edited(model, first, action -> requiring(action, edit.get(2).text(), edit.get(3), false));
      case "without" ->
          edited(
              model,
              first,
              action ->
                  new Action(
                      action.name(),
                      action.parameters(),
                      without(action.requirements(), edit.get(2).text()),
                      action.updates()));
      case "effect" ->
          edited(
              model,
              first,
              action -> writing(action, ModelReader.update(model.state(), edit.get(2).asGroup())));
      case "axiom" -> {
        Map<String, Term> axioms = new LinkedHashMap<>(model.axioms());
        axioms.put(first, edit.get(2));
        yield model.with(axioms, model.actions(), model.conjuncts());
      }
      case "no-axiom" ->
          model.with(without(model.axioms(), first), model.actions(), model.conjuncts());
      case "action" -> {
        List<Action> actions = new ArrayList<>(model.actions());
        actions.add(ModelReader.action(model.state(), edit));
        yield model.with(model.axioms(), actions, model.conjuncts());
      }
      case "no-action" ->
          model.with(
              model.axioms(), without(model.actions(), model.action(first)), model.conjuncts());
      case "invariant" -> {
        List<Conjunct> conjuncts = new ArrayList<>(model.conjuncts());
        conjuncts.add(new Conjunct(first, edit.get(2), false));
        yield model.with(model.axioms(), model.actions(), conjuncts);
      }
      case "no-invariant" -> {
        List<Conjunct> conjuncts = new ArrayList<>(model.conjuncts());
        for (Term dropped : edit.from(1)) {
          if (!conjuncts.removeIf(each -> each.name().equals(dropped.text()))) {
            throw new IllegalArgumentException(name + ": no conjunct " + dropped);
          }
        }
        yield model.with(model.axioms(), model.actions(), conjuncts);
      }
      default -> throw new IllegalArgumentException(name + ": unknown edit " + edit);
    };
  }

  private static Action requiring(Action action, String name, Term formula, boolean replace) {
    if (action.requirements().containsKey(name) != replace) {
      throw new IllegalArgumentException(
          "%s %s a requirement %s".formatted(action.name(), replace ? "lacks" : "has", name));
    }
    Map<String, Term> requirements = new LinkedHashMap<>(action.requirements());
    requirements.put(name, formula);
    return new Action(action.name(), action.parameters(), requirements, action.updates());
  }

  private static Action writing(Action action, Update update) {
    List<Update> updates = new ArrayList<>(action.updates());
    if (!updates.removeIf(each -> each.symbol().equals(update.symbol()))) {
      throw new IllegalArgumentException(action.name() + " does not write " + update.symbol());
    }
    updates.add(update);
    return new Action(action.name(), action.parameters(), action.requirements(), updates);
  }

  private Model edited(Model model, String action, UnaryOperator<Action> change) {
    Action before = model.action(action);
    return model.with(
        model.axioms(),
        model.actions().stream().map(each -> each == before ? change.apply(each) : each).toList(),
        model.conjuncts());
  }

  private static <T> List<T> without(List<T> list, T dropped) {
    return list.stream().filter(each -> each != dropped).toList();
  }

  private static Map<String, Term> without(Map<String, Term> map, String dropped) {
    Map<String, Term> rest = new LinkedHashMap<>(map);
    if (rest.remove(dropped) == null) {
      throw new IllegalArgumentException("there is no " + dropped + " to drop");
    }
    return rest;
  }
}
