package dev.lukko.spring;

import dev.lukko.spi.LockNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The nodes that {@code lukko.nodes} names, each by the module that knows its kind of address. */
final class ConfiguredNodes {
  private final LukkoProperties properties;

  ConfiguredNodes(LukkoProperties properties) {
    this.properties = properties;
  }

  /** Connects to all Redis servers at the same time. */
  List<LockNode> open() {
    List<String> redis = new ArrayList<>();
    List<String> jdbc = new ArrayList<>();
    for (int i = 0; i < properties.nodes().size(); i++) {
      String address = properties.nodes().get(i).strip();
      if (address.startsWith("redis")) {
        redis.add(address);
      } else if (address.startsWith("jdbc:")) {
        jdbc.add(address);
      } else {
        // Not shown: nobody can tell where the password is in what cannot be read.
        throw new UnusableSettingsException(
            "lukko.nodes[" + i + "] is no address of a node; it must begin with redis or jdbc:",
            "Change lukko.nodes in the application's configuration.",
            new IllegalArgumentException("unknown kind of address"));
      }
    }
    List<LockNode> nodes = new ArrayList<>();
    try {
      nodes.addAll(opened(redis, addresses -> RedisNodes.connect(addresses, properties)));
      nodes.addAll(opened(jdbc, addresses -> JdbcNodes.connect(addresses, properties)));
      return nodes;
    } catch (RuntimeException | Error failure) {
      nodes.forEach(LockNode::close);
      throw failure;
    }
  }

  private static List<? extends LockNode> opened(
      List<String> addresses, Function<List<String>, List<? extends LockNode>> connect) {
    if (addresses.isEmpty()) {
      return List.of();
    }
    try {
      return connect.apply(addresses);
    } catch (IllegalArgumentException malformed) {
      throw Setting.unusable(
          "lukko.nodes", "refused", String.valueOf(malformed.getMessage()), malformed);
    }
  }
}
