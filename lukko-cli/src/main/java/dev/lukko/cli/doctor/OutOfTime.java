package dev.lukko.cli.doctor;

/** The time for questions is over: no reply, which says nothing about what was asked. */
final class OutOfTime extends RuntimeException {
  private static final long serialVersionUID = 1L;

  OutOfTime(Throwable cause) {
    super("no answer in time", cause);
  }
}
