package dev.lukko.spec.epr;

import dev.lukko.spec.epr.Model.Action;
import dev.lukko.spec.epr.Model.Conjunct;
import dev.lukko.spec.epr.Model.Definition;
import dev.lukko.spec.epr.Model.Run;
import dev.lukko.spec.epr.Model.Symbol;
import dev.lukko.spec.epr.Model.Update;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Reads a model: a file of forms such as {@code (action expire ((n Node)) (drop entry n *))}. */
final class ModelReader {
  private final String name;
  private final List<String> sorts = new ArrayList<>();
  private final List<Symbol> constants = new ArrayList<>();
  private final List<Symbol> state = new ArrayList<>();
  private final Map<String, Term> axioms = new LinkedHashMap<>();
  private final List<Definition> definitions = new ArrayList<>();
  private final List<Term> initial = new ArrayList<>();
  private final List<Action> actions = new ArrayList<>();
  private final List<Conjunct> conjuncts = new ArrayList<>();
  private Run busy = new Run("busy", List.of(), List.of(), List.of(), List.of(), Term.name("true"));
  private final Map<String, Variant> variants = new LinkedHashMap<>();
  private final Map<String, List<Term.Group>> worlds = new LinkedHashMap<>();
  private final List<Run> runs = new ArrayList<>();
  private final Set<String> declared = new HashSet<>();

  private ModelReader(String name) {
    this.name = name;
  }

  static Model read(String name, String text) {
    ModelReader reader = new ModelReader(name);
    for (Term form : TermReader.read(text)) {
      try {
        reader.form(form.asGroup());
      } catch (IllegalArgumentException wrong) {
        throw new IllegalArgumentException(
            name + ": " + wrong.getMessage() + ", in " + form, wrong);
      }
    }
    return reader.model();
  }

  private Model model() {
    for (Run run : runs) {
      Stream.concat(run.possible().stream(), run.impossible().stream())
          .filter(variant -> !variant.equals(Variant.PROTOCOL) && !variants.containsKey(variant))
          .findFirst()
          .ifPresent(
              unknown -> {
                throw new IllegalArgumentException(
                    "%s: run %s names the variant %s, which does not exist"
                        .formatted(name, run.name(), unknown));
              });
    }
    return new Model(
        name,
        sorts,
        constants,
        state,
        axioms,
        definitions,
        initial,
        actions,
        conjuncts,
        busy,
        variants,
        runs);
  }

  private void form(Term.Group form) {
    switch (form.get(0).text()) {
      case "sorts" -> form.from(1).forEach(sort -> sorts.add(sort.text()));
      case "constant" -> constants.add(symbol(form));
      case "state" -> state.add(symbol(form));
      case "axiom" -> put(axioms, form.get(1).text(), checked(form.get(2), Set.of()));
      case "define" -> definitions.add(definition(form));
      case "init" -> initial.add(checked(form.get(1), Set.of()));
      case "action" -> actions.add(checkedAction(form));
      case "invariant", "property" -> conjuncts.add(conjunct(form));
      case "busy" -> busy = run("busy", form.from(1));
      case "variant" -> put(variants, form.get(1).text(), Variant.read(form));
      case "world" ->
          put(worlds, form.get(1).text(), form.from(2).stream().map(Term::asGroup).toList());
      case "run" -> runs.add(run(form.get(1).text(), form.from(2)));
      default -> throw new IllegalArgumentException("unknown form " + form.get(0));
    }
  }

  private static <V> void put(Map<String, V> map, String key, V value) {
    if (map.put(key, value) != null) {
      throw new IllegalArgumentException("there are two of the name " + key);
    }
  }

  private Symbol symbol(Term.Group form) {
    Symbol symbol =
        new Symbol(
            declare(form.get(1).text()),
            form.get(2).asGroup().parts().stream().map(Term::text).toList(),
            form.get(3).text());
    Stream.concat(symbol.arguments().stream(), Stream.of(symbol.result()))
        .filter(sort -> !sort.equals("Bool") && !sorts.contains(sort))
        .findFirst()
        .ifPresent(
            unknown -> {
              throw new IllegalArgumentException("there is no sort " + unknown);
            });
    return symbol;
  }

  private String declare(String symbol) {
    if (!declared.add(symbol)) {
      throw new IllegalArgumentException(symbol + " is declared twice");
    }
    return symbol;
  }

  private Definition definition(Term.Group form) {
    List<Variable> parameters = Variable.list(form.get(2));
    Term body = checked(form.get(3), names(parameters));
    return new Definition(declare(form.get(1).text()), parameters, body);
  }

  private Conjunct conjunct(Term.Group form) {
    String conjunct = form.get(1).text();
    if (conjuncts.stream().anyMatch(each -> each.name().equals(conjunct))) {
      throw new IllegalArgumentException("there are two of the name " + conjunct);
    }
    return new Conjunct(conjunct, checked(form.get(2), Set.of()), form.isHead("property"));
  }

  private Action checkedAction(Term.Group form) {
    Set<String> parameters = names(Variable.list(form.get(2)));
    form.from(3).forEach(part -> checked(part, parameters));
    return action(state, form);
  }

  static Action action(List<Symbol> state, Term.Group form) {
    List<Variable> parameters = Variable.list(form.get(2));
    Map<String, Term> requirements = new LinkedHashMap<>();
    List<Update> updates = new ArrayList<>();
    Set<String> written = new HashSet<>();
    for (Term part : form.from(3)) {
      if (part.asGroup().isHead("require")) {
        put(requirements, part.asGroup().get(1).text(), part.asGroup().get(2));
      } else {
        Update update = update(state, part.asGroup());
        if (!written.add(update.symbol())) {
          throw new IllegalArgumentException(update.symbol() + " is written twice");
        }
        updates.add(update);
      }
    }
    return new Action(form.get(1).text(), parameters, requirements, updates);
  }

  /**
   * Reads {@code (add relation arguments)}, {@code (drop relation arguments)}, {@code (put function
   * arguments value)}, where {@code *} stands for every argument, or {@code (set (symbol
   * parameters) body)}.
   */
  static Update update(List<Symbol> state, Term.Group statement) {
    boolean whole = statement.isHead("set");
    String written = (whole ? statement.get(1).asGroup().get(0) : statement.get(1)).text();
    Symbol symbol =
        state.stream()
            .filter(each -> each.name().equals(written))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException(written + " is not part of the state"));
    if (whole) {
      List<Variable> parameters = Variable.list(new Term.Group(statement.get(1).asGroup().from(1)));
      if (!parameters.stream().map(Variable::sort).toList().equals(symbol.arguments())) {
        throw new IllegalArgumentException(written + " is of " + symbol.arguments());
      }
      return new Update(written, parameters, statement.get(2));
    }
    List<Variable> parameters = new ArrayList<>();
    List<Term> same = new ArrayList<>(List.of(Term.name("and"), Term.name("true")));
    for (int i = 0; i < symbol.arguments().size(); i++) {
      Variable parameter = new Variable("$" + i, symbol.arguments().get(i));
      parameters.add(parameter);
      Term argument = statement.get(2 + i);
      if (!argument.equals(Term.name("*"))) {
        same.add(Term.group(Term.name("="), Term.name(parameter.name()), argument));
      }
    }
    Term here = new Term.Group(same);
    Term before = Term.apply(written, Variable.names(parameters));
    int arguments = 2 + parameters.size();
    boolean isPut = statement.isHead("put");
    if (statement.parts().size() != arguments + (isPut ? 1 : 0)) {
      throw new IllegalArgumentException("wrong number of arguments: " + statement);
    }
    Term body =
        switch (statement.get(0).text()) {
          case "add" -> Term.group(Term.name("or"), before, here);
          case "drop" -> Term.group(Term.name("and"), before, Term.not(here));
          case "put" -> Term.group(Term.name("ite"), here, statement.get(arguments), before);
          default -> throw new IllegalArgumentException("unknown statement " + statement);
        };
    return new Update(written, parameters, body);
  }

  private Run run(String run, List<Term> form) {
    Map<String, List<Term>> parts = new LinkedHashMap<>();
    for (Term part : form) {
      put(parts, part.asGroup().get(0).text(), part.asGroup().from(1));
    }
    List<Term> in = new ArrayList<>(parts.getOrDefault("in", List.of()));
    List<Term.Group> world = worlds.get(in.isEmpty() ? "" : in.remove(0).text());
    if (world == null
        || !Set.of("possible", "impossible", "in", "steps", "end").containsAll(parts.keySet())) {
      throw new IllegalArgumentException(
          "a run has possible, impossible, in (a world first), steps and end");
    }
    List<Term.Group> bounds = new ArrayList<>(world);
    in.forEach(bound -> bounds.add(bound.asGroup()));
    bounds.stream()
        .filter(bound -> bound.isHead("const") && declared.contains(bound.get(1).text()))
        .findFirst()
        .ifPresent(bound -> hides(bound.get(1).text()));
    return new Run(
        run,
        parts.getOrDefault("possible", List.of()).stream().map(Term::text).toList(),
        parts.getOrDefault("impossible", List.of()).stream().map(Term::text).toList(),
        bounds,
        parts.getOrDefault("steps", List.of()).stream().map(Term::asGroup).toList(),
        parts.getOrDefault("end", List.of()).get(0));
  }

  private static Set<String> names(List<Variable> variables) {
    Set<String> names = new LinkedHashSet<>();
    variables.forEach(variable -> names.add(variable.name()));
    return names;
  }

  /** Sees to it that a bound variable or a parameter is never taken for something else. */
  private Term checked(Term term, Set<String> parameters) {
    parameters.stream().filter(declared::contains).findFirst().ifPresent(ModelReader::hides);
    if (term instanceof Term.Group group) {
      if (group.isQuantifier()) {
        names(Variable.list(group.get(1))).stream()
            .filter(bound -> parameters.contains(bound) || declared.contains(bound))
            .findFirst()
            .ifPresent(ModelReader::hides);
      }
      group.parts().forEach(part -> checked(part, parameters));
    }
    return term;
  }

  private static void hides(String variable) {
    throw new IllegalArgumentException(variable + " hides something of the same name");
  }
}
