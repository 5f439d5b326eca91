package dev.lukko.cli;

import dev.lukko.cli.doctor.Diagnosis;
import dev.lukko.cli.doctor.Doctor;
import dev.lukko.cli.doctor.Doctor.Patient;
import dev.lukko.jedis.JedisNode;
import dev.lukko.redis.RedisNode;
import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.redis.protocol.NodeSettings;
import dev.lukko.redis.protocol.RedisAccess;
import dev.lukko.spi.LockNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

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
      RedisAccess checked = checked(access);
      return quick
          ? List.copyOf(
              JedisNode.builder().keyFormat(keyFormat).access(checked).connectAll(urls))
          : List.copyOf(
              RedisNode.builder().keyFormat(keyFormat).access(checked).connectAll(urls));
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
      RedisAccess checked = checked(access);
      return new Doctor(
              () -> RedisNode.builder().keyFormat(keyFormat).access(checked),
              keyFormat,
              timeout,
              maxTtl)
          .examine(
              addresses.stream()
                  .map(address -> new Patient(address.toString(), address.url()))
                  .toList());
    } catch (IllegalArgumentException malformed) {
      throw new UsageException("node: " + malformed.getMessage());
    }
  }

  private static RedisAccess checked(NodeAccess access) {
    NodeSettings settings = new NodeSettings();
    Optional.ofNullable(access.user()).ifPresent(settings::setUser);
    if (access.passwordFile() != null) {
      settings.setPasswordFile(access.passwordFile());
    } else if (access.password() != null) {
      settings.setPassword(access.password());
    }
    Optional.ofNullable(access.cacert()).ifPresent(settings::setCaCertificates);
    if (access.cert() != null && access.key() != null) {
      settings.setClientCertificate(access.cert(), access.key());
    }
    return settings.access();
  }
}
