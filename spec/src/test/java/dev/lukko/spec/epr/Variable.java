package dev.lukko.spec.epr;

import java.util.List;

/** A name that a quantifier binds, or a parameter, and its sort. */
record Variable(String name, String sort) {
  /** Reads {@code ((a Node) (b Owner))}. */
  static List<Variable> list(Term declared) {
    return declared.asGroup().parts().stream()
        .map(
            one -> {
              Term.Group pair = one.asGroup();
              if (pair.parts().size() != 2) {
                throw new IllegalArgumentException("expected a name and its sort: " + one);
              }
              return new Variable(pair.get(0).text(), pair.get(1).text());
            })
        .toList();
  }

  static Term toTerm(List<Variable> variables) {
    return new Term.Group(
        variables.stream()
            .map(each -> (Term) Term.group(Term.name(each.name), Term.name(each.sort)))
            .toList());
  }

  static List<Term> names(List<Variable> variables) {
    return variables.stream().map(each -> Term.name(each.name)).toList();
  }
}
