package dev.lukko.cli;

import dev.lukko.redis.format.RedisKeyFormat;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The options that say where the nodes are. */
final class NodeOptions {

  static final String VARIABLE = "LUKKO_NODES";

  @Option(
      names = "--node",
      paramLabel = "URL",
      description = {
        "A node: redis://HOST:PORT, rediss:// for TLS, redis-socket:///PATH, redis-sentinel:// or"
            + " redis-cluster://. Give it once for each node; an odd number, 1, 3 or 5, is best."
            + " Default: the addresses in"
            + " LUKKO_NODES, separated by blanks or commas; without these, a file that excludes"
            + " this user's processes on this machine."
      })
  private @Nullable List<String> urls;

  @ArgGroup(validate = false, order = 1, heading = "%nTo get into the nodes:%n")
  private ServerAccess access = new ServerAccess();

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

  @Option(
      names = {"-v", "--verbose"},
      description = "Says on standard error where the locks are.")
  private boolean verbose;

  /**
   * The store that was asked for: the nodes, or without any the file on this machine. Checked
   * before any I/O; told of if that was asked for.
   *
   * @throws UsageException if an address is malformed, a server is named twice, or nodes were meant
   *     and none is named
   */
  LockStore store(Surroundings surroundings) {
    List<NodeAddress> addresses = addresses(surroundings.environment());
    LockStore store =
        addresses.isEmpty()
            ? embedded(surroundings.environment())
            : new NamedNodes(addresses, keyFormat, access.given(surroundings.environment()));
    if (verbose) {
      surroundings.say("locks are in " + store.description());
    }
    return store;
  }

  /**
   * The nodes that were asked for, where there must be some.
   *
   * @throws UsageException as {@link #store} does, or if none is named
   */
  NamedNodes named(Surroundings surroundings) {
    if (store(surroundings) instanceof NamedNodes nodes) {
      return nodes;
    }
    throw new UsageException(
        "no node is named; give --node redis://HOST:PORT for each, or set " + VARIABLE);
  }

  /** Whoever meant nodes must not get a lock that no other machine knows of. */
  private LockStore embedded(Map<String, String> environment) {
    if (environment.containsKey(VARIABLE)) {
      throw new UsageException(
          VARIABLE
              + " is set, but names no node; write redis://HOST:PORT for each, or unset it to lock"
              + " on this machine alone");
    }
    if (keyFormat != RedisKeyFormat.PREFIXED) {
      throw new UsageException(
          "--key-format plain is for Redis nodes, and there are none: give --node"
              + " redis://HOST:PORT for each, or set "
              + VARIABLE);
    }
    return EmbeddedFile.of(environment);
  }

  private List<NodeAddress> addresses(Map<String, String> environment) {
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
