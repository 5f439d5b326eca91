package dev.lukko.spi;

import org.jspecify.annotations.Nullable;

/**
 * The node is up but may not vote now, and has certainly not applied the request.
 *
 * @param status why
 */
public record NotVoting(NodeStatus status) implements NodeFault {

  @Override
  public String detail() {
    return status.describe();
  }

  @Override
  public @Nullable Throwable cause() {
    return null;
  }
}
