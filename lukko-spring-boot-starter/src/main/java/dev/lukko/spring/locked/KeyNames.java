package dev.lukko.spring.locked;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The names that a value stands for. */
final class KeyNames {
  private KeyNames() {}

  /**
   * One name for a value, or one for each of its elements.
   *
   * @param expression what gave the value, for messages
   */
  static List<String> of(String expression, @Nullable Object value) {
    List<String> names = new ArrayList<>();
    if (value instanceof Iterable<?> several) {
      several.forEach(one -> names.add(name(expression, one)));
    } else if (value != null && value.getClass().isArray()) {
      for (int i = 0; i < Array.getLength(value); i++) {
        names.add(name(expression, Array.get(value, i)));
      }
    } else {
      names.add(name(expression, value));
    }
    if (names.isEmpty()) {
      throw new IllegalArgumentException(
          "key " + expression + " gave no element; it must give at least one name");
    }
    return names;
  }

  /** Two calls that mean the same thing must get the same name, and others another one. */
  static String name(String expression, @Nullable Object value) {
    if (value == null) {
      throw new IllegalArgumentException(
          "key " + expression + " is null; a name must be made of values that are there");
    }
    if (value instanceof Optional || value instanceof Map || !hasTextOfItsOwn(value.getClass())) {
      throw new IllegalArgumentException(
          "key "
              + expression
              + " is a "
              + value.getClass().getName()
              + ", whose text does not say which one it is; name a property of it");
    }
    return value instanceof Enum<?> constant ? constant.name() : value.toString();
  }

  private static boolean hasTextOfItsOwn(Class<?> type) {
    try {
      return !type.isArray() && type.getMethod("toString").getDeclaringClass() != Object.class;
    } catch (NoSuchMethodException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
