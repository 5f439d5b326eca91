package dev.lukko.redlock;

import java.util.List;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * What a JDK Flight Recording shows of locks. Without a recording, beginning and ending do nothing.
 */
final class FlightEvents {
  private FlightEvents() {}

  /** An acquiring call, from its first round to its end. */
  @Name("dev.lukko.Acquire")
  @Label("Lock Acquire")
  @Category("Lukko")
  @Description("A call that acquires a lock, rounds and waits together")
  @StackTrace(false)
  static final class Acquire extends Event implements FlightRecord.Acquire {
    @Label("Resources")
    String resources = "";

    @Label("Acquired")
    boolean acquired;

    @Label("Rounds")
    int rounds;

    @Override
    public void end(List<String> names, boolean success, int made) {
      if (shouldCommit()) {
        resources = String.join(",", names);
        acquired = success;
        rounds = made;
        commit();
      }
    }
  }

  /** A hold, from its grant to its release or loss. */
  @Name("dev.lukko.Hold")
  @Label("Lock Hold")
  @Category("Lukko")
  @Description("A lease, from its grant to its release or loss")
  @StackTrace(false)
  static final class Held extends Event implements FlightRecord.Held {
    @Label("Resources")
    String resources = "";

    @Label("Fencing Token")
    long fencingToken;

    @Override
    public void end(List<String> names, long token) {
      if (shouldCommit()) {
        resources = String.join(",", names);
        fencingToken = token;
        commit();
      }
    }
  }

  /** The loss of a hold. */
  @Name("dev.lukko.Loss")
  @Label("Lock Loss")
  @Category("Lukko")
  @Description("A lease was lost before it was released")
  @StackTrace(false)
  static final class Loss extends Event {
    @Label("Resources")
    String resources = "";

    @Label("Fencing Token")
    long fencingToken;

    @Label("Reason")
    String reason = "";

    static void emit(List<String> names, long token, Enum<?> why) {
      Loss event = new Loss();
      if (event.shouldCommit()) {
        event.resources = String.join(",", names);
        event.fencingToken = token;
        event.reason = why.name();
        event.commit();
      }
    }
  }
}
