package dev.lukko.release;

/** A request that can create an entry, on its way to a server. Thread-safe. */
public interface CreatingRequest {

  /** Whether the server has dealt with it, or will never see it. */
  boolean isAnswered();

  /** Whether it may be applied behind what is answered on that connection. */
  boolean mayFollow(Object connection);

  /** From now on it is not sent another time. */
  void withdraw();
}
