package dev.lukko.cli;

import dev.lukko.spi.LockNode;
import java.util.List;

/** Makes nodes of addresses: the only place of the command that knows the stores. */
final class NodeConnector {

  /** The schemes of the stores, in the order in which they are shown. */
  static final List<String> SCHEMES = List.of("redis", "rediss");

  private NodeConnector() {}

  static List<LockNode> connect(List<NodeAddress> addresses, NodeOptions.KeyNames keyNames) {
    throw new UnsupportedOperationException(addresses + " " + keyNames);
  }
}
