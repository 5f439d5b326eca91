package dev.lukko.redis.protocol;

import dev.lukko.LockException;
import dev.lukko.spi.NodeFault;

/** A {@link NodeFault} on its way through a stage that completes with something else. */
final class NodeFaultException extends LockException {
  private static final long serialVersionUID = 1L;

  private final transient NodeFault fault;

  NodeFaultException(NodeFault fault) {
    super(fault.detail(), fault.cause());
    this.fault = fault;
  }

  NodeFault fault() {
    return fault;
  }
}
