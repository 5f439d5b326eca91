package dev.lukko.redlock;

import java.util.List;

/**
 * The door to Flight Recorder events. A runtime made without the module {@code jdk.jfr}, or an
 * application on the module path that does not resolve it, records nothing and locks all the same.
 */
final class FlightRecord {
  private static final boolean PRESENT = isPresent();

  private FlightRecord() {}

  /** An acquiring call, from its first round to its end. */
  interface Acquire {
    void begin();

    void end(List<String> names, boolean success, int rounds);
  }

  /** A hold, from its grant to its release or loss. */
  interface Held {
    void begin();

    void end(List<String> names, long token);
  }

  static Acquire acquire() {
    return PRESENT ? new FlightEvents.Acquire() : Nothing.INSTANCE;
  }

  static Held held() {
    return PRESENT ? new FlightEvents.Held() : Nothing.INSTANCE;
  }

  /** Records the loss of a hold. */
  static void loss(List<String> names, long token, Enum<?> reason) {
    if (PRESENT) {
      FlightEvents.Loss.emit(names, token, reason);
    }
  }

  private static boolean isPresent() {
    try {
      Class.forName("jdk.jfr.Event", false, FlightRecord.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError absent) {
      return false;
    }
  }

  private enum Nothing implements Acquire, Held {
    INSTANCE;

    @Override
    public void begin() {}

    @Override
    public void end(List<String> names, boolean success, int rounds) {}

    @Override
    public void end(List<String> names, long token) {}
  }
}
