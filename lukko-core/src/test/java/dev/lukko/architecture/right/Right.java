package dev.lukko.architecture.right;

/** The other half of the cycle. */
public final class Right {
  public static Class<?> other() {
    return dev.lukko.architecture.left.Left.class;
  }
}
