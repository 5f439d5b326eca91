package dev.lukko.jdbc;

import dev.lukko.spi.NodeFault;

/** The end of a request that has no reply of its own. */
final class GivenUp extends Exception {
  private static final long serialVersionUID = 1L;
  private final transient NodeFault fault;

  GivenUp(NodeFault fault) {
    super(fault.detail(), fault.cause(), false, false);
    this.fault = fault;
  }

  NodeFault fault() {
    return fault;
  }
}
