package dev.lukko.annotation;

import java.util.Collection;

/** How the names to lock follow from a call: a framework's expression language. */
@FunctionalInterface
public interface KeyExpression {

  /**
   * The names that this call locks.
   *
   * @throws IllegalArgumentException if the expression gives none; says which expression, and what
   *     it gave
   */
  Collection<String> names(MethodCall call);
}
