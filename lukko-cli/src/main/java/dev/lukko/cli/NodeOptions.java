package dev.lukko.cli;

import dev.lukko.redis.RedisKeyFormat;
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
        "A node: redis://HOST:PORT, rediss:// for TLS, or redis-socket:///PATH. Give it once for"
            + " each node; an odd number, 1, 3 or 5, is best. Default: the addresses in"
            + " LUKKO_NODES, separated by blanks or commas."
      })
  private @Nullable List<String> urls;

  @Option(
      names = "--key-format",
      paramLabel = "FORMAT",
      defaultValue = "prefixed",
      description = {
        "How keys are named: 'prefixed' is lukko:{RESOURCE}, 'plain' is RESOURCE itself, as other"
            + " Redlock libraries have it. All clients of a lock must use the same. Default:"
            + " prefixed."
      })
  private RedisKeyFormat keyFormat = RedisKeyFormat.PREFIXED;

  RedisKeyFormat keyFormat() {
    return keyFormat;
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
            "node "
                + address
                + " is given twice; each node has one vote, so every address must be"
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
