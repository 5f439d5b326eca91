package dev.lukko.architecture.left;

/** One half of a cycle that the architecture rules must see. */
public final class Left {
  public static Class<?> other() {
    return dev.lukko.architecture.right.Right.class;
  }
}
