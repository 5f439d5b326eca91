package dev.lukko.cli;

import dev.lukko.cli.doctor.Diagnosis;
import dev.lukko.cli.doctor.Doctor;
import dev.lukko.cli.doctor.Doctor.Patient;
import dev.lukko.jedis.JedisNode;
import dev.lukko.jedis.JedisNodeBuilder;
import dev.lukko.redis.RedisNode;
import dev.lukko.redis.RedisNodeBuilder;
import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.spi.LockNode;
import java.time.Duration;
import java.util.List;

/** Makes nodes of addresses: the only place of the command that knows the servers. */
final class NodeConnector {

  /** The schemes of the stores, in the order in which they are shown. */
  static final List<String> SCHEMES =
      List.of(
          "redis",
          "rediss",
          "redis-socket",
          "redis-sentinel",
          "rediss-sentinel",
          "redis-cluster",
          "rediss-cluster");

  /** What the driver can reach that starts in a fraction of the other one's time. */
  private static final List<String> QUICK_SCHEMES = List.of("redis", "rediss");

  private NodeConnector() {}

  /**
   * Connects to all nodes at the same time; one that is down is no failure.
   *
   * @param access how to get in where an address does not say it
   * @throws UsageException if a store does not accept an address; no connection is made then
   */
  static List<LockNode> connect(
      List<NodeAddress> addresses, RedisKeyFormat keyFormat, NodeAccess access) {
    try {
      List<String> urls = addresses.stream().map(NodeAddress::url).toList();
      boolean quick =
          addresses.stream().allMatch(address -> QUICK_SCHEMES.contains(address.scheme()));
      return quick
          ? List.copyOf(quickBuilder(keyFormat, access).connectAll(urls))
          : List.copyOf(builder(keyFormat, access).connectAll(urls));
    } catch (IllegalArgumentException malformed) {
      throw new UsageException("node: " + malformed.getMessage());
    }
  }

  /**
   * Looks at all nodes at the same time.
   *
   * @throws UsageException if a store does not accept an address
   */
  static Diagnosis diagnose(
      List<NodeAddress> addresses,
      RedisKeyFormat keyFormat,
      NodeAccess access,
      Duration timeout,
      Duration maxTtl) {
    try {
      return new Doctor(() -> builder(keyFormat, access), keyFormat, timeout, maxTtl)
          .examine(
              addresses.stream()
                  .map(address -> new Patient(address.toString(), address.url()))
                  .toList());
    } catch (IllegalArgumentException malformed) {
      throw new UsageException("node: " + malformed.getMessage());
    }
  }

  private static RedisNodeBuilder builder(RedisKeyFormat keyFormat, NodeAccess access) {
    RedisNodeBuilder nodes = RedisNode.builder().keyFormat(keyFormat);
    access.give(
        nodes::user,
        nodes::password,
        nodes::passwordFile,
        nodes::caCertificates,
        nodes::clientCertificate);
    return nodes;
  }

  private static JedisNodeBuilder quickBuilder(RedisKeyFormat keyFormat, NodeAccess access) {
    JedisNodeBuilder nodes = JedisNode.builder().keyFormat(keyFormat);
    access.give(
        nodes::user,
        nodes::password,
        nodes::passwordFile,
        nodes::caCertificates,
        nodes::clientCertificate);
    return nodes;
  }
}
