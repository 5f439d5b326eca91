package dev.lukko.cli;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say where the nodes are. */
final class NodeOptions {

  static final String VARIABLE = "LUKKO_NODES";

  @Option(
      names = "--node",
      paramLabel = "URL",
      description = {
        "A node: redis://HOST:PORT, or rediss:// for TLS. Give it once for each node; an odd number,"
            + " 1, 3 or 5, is best. Default: the addresses in LUKKO_NODES, separated by blanks or"
            + " commas."
      })
  private @Nullable List<String> urls;

  @Option(
      names = "--key-format",
      paramLabel = "FORMAT",
      defaultValue = "lukko",
      description = {
        "How keys are named: 'lukko' as this library does, or 'plain': the key is the resource's"
            + " name, as other Redlock libraries have it. Default: lukko."
      })
  private KeyNames keyNames = KeyNames.LUKKO;

  /** How keys are named on a node. */
  enum KeyNames {
    LUKKO,
    PLAIN
  }

  KeyNames keyNames() {
    return keyNames;
  }

  /**
   * The addresses, checked before any I/O.
   *
   * @throws UsageException if there are none, one is malformed, or a server is named twice
   */
  List<NodeAddress> addresses(Map<String, String> environment) {
    List<NodeAddress> addresses = new ArrayList<>();
    Map<String, String> seen = new HashMap<>();
    for (String url : given(environment)) {
      NodeAddress address = NodeAddress.parse(url);
      if (seen.putIfAbsent(address.server(), url) != null) {
        throw new UsageException(
            "node " + address + " is given twice; each node has one vote, so every address must be"
                + " another server");
      }
      addresses.add(address);
    }
    if (addresses.isEmpty()) {
      throw new UsageException(
          "no nodes: give --node redis://HOST:PORT for each node, or set " + VARIABLE);
    }
    return addresses;
  }

  private List<String> given(Map<String, String> environment) {
    if (urls != null) {
      return urls;
    }
    return List.of(environment.getOrDefault(VARIABLE, "").split("[\\s,]+")).stream()
        .filter(url -> !url.isEmpty())
        .toList();
  }
}
