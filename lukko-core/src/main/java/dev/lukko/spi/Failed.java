package dev.lukko.spi;

import org.jspecify.annotations.Nullable;

/**
 * The node failed and has certainly not applied the request: it refused the connection, or answered
 * with an error before it did anything.
 *
 * @param detail what went wrong, the class of the error first
 * @param cause the underlying failure, or null
 */
public record Failed(String detail, @Nullable Throwable cause) implements NodeFault {

  /**
   * The class of a request that was withdrawn by the release of its own owner before it had reached
   * the store: nothing is wrong with the node.
   */
  public static final String WITHDRAWN = "WITHDRAWN";

  /** A failure without an underlying one. */
  public Failed(String detail) {
    this(detail, null);
  }
}
