package dev.lukko.spi;

import dev.lukko.text.Printable;
import org.jspecify.annotations.Nullable;

/**
 * The node failed and has certainly not applied the request: it refused the connection, or answered
 * with an error before it did anything.
 *
 * @param detail what went wrong, the class of the error first
 * @param cause the underlying failure, or null
 */
public record Failed(String detail, @Nullable Throwable cause) implements NodeFault {

  public Failed {
    detail = Printable.of(detail);
  }

  /**
   * The class of a request that was withdrawn by the release of its own owner before it had reached
   * the store: nothing is wrong with the node.
   */
  public static final String WITHDRAWN = "WITHDRAWN";

  /**
   * The class of a request that was not sent for want of a connection, where nothing has refused
   * one: it is being made, or its server is silent. As a timeout, it says nothing of what the next
   * request will meet.
   */
  public static final String NOT_CONNECTED = "not connected";

  /** A failure without an underlying one. */
  public Failed(String detail) {
    this(detail, null);
  }

  /**
   * The class of a request that was not written to a connection that has just ended, or that is
   * full of requests without a reply.
   */
  public static final String NOT_SENT = "not sent";

  /** Whether it tells nothing of what the next request will meet: nothing has been refused. */
  public boolean isPassing() {
    return isOf(NOT_CONNECTED) || isOf(NOT_SENT);
  }

  private boolean isOf(String kind) {
    return detail.equals(kind) || detail.startsWith(kind + ":");
  }
}
