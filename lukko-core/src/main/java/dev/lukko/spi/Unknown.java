package dev.lukko.spi;

import dev.lukko.text.Printable;
import org.jspecify.annotations.Nullable;

/**
 * The node did not answer properly: the request may have been applied, may be applied later, or
 * never.
 *
 * @param detail what went wrong, the class of the error first
 * @param cause the underlying failure, or null
 */
public record Unknown(String detail, @Nullable Throwable cause) implements NodeFault {

  public Unknown {
    detail = Printable.of(detail);
  }

  /** An unknown outcome without an underlying failure. */
  public Unknown(String detail) {
    this(detail, null);
  }
}
