package dev.lukko.testkit.sim;

/** A write on its way to the resource. */
final class Write {
  long delayNanos;
}
