package dev.lukko.release;

/** A request that was sent on a connection. */
final class Sent implements CreatingRequest {
  volatile boolean answered;
  Object connection = "first";
  boolean withdrawn;

  @Override
  public boolean isAnswered() {
    return answered;
  }

  @Override
  public boolean mayFollow(Object other) {
    return !connection.equals(other) && !answered;
  }

  @Override
  public void withdraw() {
    withdrawn = true;
  }
}
