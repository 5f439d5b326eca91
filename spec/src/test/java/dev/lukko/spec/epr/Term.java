package dev.lukko.spec.epr;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** A term of the model language, which is that of SMT-LIB: a name, or a list of terms. */
sealed interface Term {
  /** A name of a symbol, a variable, a sort or an operator. */
  record Name(String text) implements Term {
    @Override
    public String toString() {
      return text;
    }
  }

  /** Terms in parentheses. */
  record Group(List<Term> parts) implements Term {
    public Group {
      parts = List.copyOf(parts);
    }

    Term get(int index) {
      if (index >= parts.size()) {
        throw new IllegalArgumentException(
            "expected more than " + parts.size() + " terms: " + this);
      }
      return parts.get(index);
    }

    List<Term> from(int index) {
      return parts.subList(index, parts.size());
    }

    boolean isQuantifier() {
      return !parts.isEmpty() && (isHead("forall") || isHead("exists"));
    }

    boolean isHead(String operator) {
      return parts.get(0).equals(new Name(operator));
    }

    @Override
    public String toString() {
      return parts.stream().map(Term::toString).collect(Collectors.joining(" ", "(", ")"));
    }
  }

  static Term name(String text) {
    return new Name(text);
  }

  static Group group(Term... parts) {
    return new Group(List.of(parts));
  }

  /** An operator or symbol and its arguments; the symbol alone if there are none. */
  static Term apply(String symbol, List<? extends Term> arguments) {
    if (arguments.isEmpty()) {
      return name(symbol);
    }
    List<Term> parts = new ArrayList<>(List.of(name(symbol)));
    parts.addAll(arguments);
    return new Group(parts);
  }

  static Term not(Term negated) {
    return group(name("not"), negated);
  }

  default String text() {
    if (this instanceof Name name) {
      return name.text();
    }
    throw new IllegalArgumentException("expected a name: " + this);
  }

  default Group asGroup() {
    if (this instanceof Group group) {
      return group;
    }
    throw new IllegalArgumentException("expected terms in parentheses: " + this);
  }

  /**
   * Replaces free names. A name that a quantifier binds is another one and stays.
   *
   * @throws IllegalArgumentException if a quantifier would bind a name that is put in: the term
   *     would mean something else
   */
  default Term replace(Map<String, String> replacements) {
    if (this instanceof Name name) {
      String replacement = replacements.get(name.text());
      return replacement == null ? this : name(replacement);
    }
    Group group = asGroup();
    if (!group.isQuantifier()) {
      return new Group(group.parts().stream().map(part -> part.replace(replacements)).toList());
    }
    Map<String, String> inside = new HashMap<>(replacements);
    List<String> bound = Variable.list(group.get(1)).stream().map(Variable::name).toList();
    bound.forEach(inside::remove);
    Set<String> free = group.get(2).names();
    free.retainAll(inside.keySet());
    for (String replaced : free) {
      if (bound.contains(inside.get(replaced))) {
        throw new IllegalArgumentException(
            "%s for %s would be bound in %s".formatted(inside.get(replaced), replaced, this));
      }
    }
    return group(group.get(0), group.get(1), group.get(2).replace(inside));
  }

  /** All names that occur in the term, in their order. */
  default Set<String> names() {
    Set<String> names = new LinkedHashSet<>();
    if (this instanceof Name name) {
      names.add(name.text());
    } else {
      asGroup().parts().forEach(part -> names.addAll(part.names()));
    }
    return names;
  }
}
