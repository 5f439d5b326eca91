package dev.lukko.mongodb;

/** The collection cannot hold locks, as it was made by somebody else. */
final class UnsuitableCollectionException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnsuitableCollectionException(String message) {
    super("UNSUITABLE: " + message);
  }
}
