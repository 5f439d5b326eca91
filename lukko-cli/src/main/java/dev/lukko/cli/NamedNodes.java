package dev.lukko.cli;

import dev.lukko.cli.doctor.Diagnosis;
import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.LockNode;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The nodes that were named by option or variable.
 *
 * @param addresses at least one
 * @param access how to get in where an address does not say it
 */
record NamedNodes(List<NodeAddress> addresses, RedisKeyFormat keyFormat, NodeAccess access)
    implements LockStore {

  NamedNodes {
    addresses = List.copyOf(addresses);
  }

  @Override
  public String description() {
    return (addresses.size() == 1 ? "the node " : "the nodes ")
        + addresses.stream().map(NodeAddress::toString).collect(Collectors.joining(", "));
  }

  @Override
  public String headline() {
    return "";
  }

  @Override
  public List<LockNode> open() {
    return NodeConnector.connect(addresses, keyFormat, access);
  }

  @Override
  public void tune(RedlockBuilder client) {
    // The defaults are meant for servers.
  }

  @Override
  public Diagnosis diagnose(Duration timeout, Duration maxTtl) {
    return NodeConnector.diagnose(addresses, keyFormat, access, timeout, maxTtl);
  }
}
