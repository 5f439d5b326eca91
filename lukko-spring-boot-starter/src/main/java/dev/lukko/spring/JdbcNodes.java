package dev.lukko.spring;

import dev.lukko.jdbc.JdbcNode;
import dev.lukko.jdbc.JdbcNodeBuilder;
import dev.lukko.spi.LockNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Nodes in SQL databases. */
final class JdbcNodes {
  private JdbcNodes() {}

  static List<LockNode> connect(List<String> addresses, LukkoProperties properties) {
    List<LockNode> nodes = new ArrayList<>();
    try {
      for (String address : addresses) {
        nodes.add(open(JdbcNode.builder(address), properties));
      }
      return nodes;
    } catch (RuntimeException | Error failure) {
      nodes.forEach(LockNode::close);
      throw failure;
    }
  }

  static LockNode open(JdbcNodeBuilder builder, LukkoProperties properties) {
    Supplier<JdbcNode> node = builder.createSchema(properties.createSchema())::build;
    try {
      return node.get();
    } catch (IllegalStateException withoutTables) {
      throw new UnusableSettingsException(
          "The database cannot hold locks: " + withoutTables.getMessage(),
          "Set lukko.create-schema=true, or have the tables created by the migrations of the"
              + " application: the command \"lukko ddl\" and JdbcSchema.ddl print the statements.",
          withoutTables);
    }
  }
}
