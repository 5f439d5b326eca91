package dev.lukko.spring;

import dev.lukko.LockClient;
import dev.lukko.LockException;
import dev.lukko.LockListener;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.LockNode;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the client of an application from its settings and from what it has. */
final class LockClientFactory {
  private static final System.Logger LOG = System.getLogger(LockClientFactory.class.getName());

  private final LukkoProperties properties;
  private final @Nullable ApplicationStore store;

  LockClientFactory(LukkoProperties properties, @Nullable ApplicationStore store) {
    this.properties = properties;
    this.store = store;
  }

  LockClient create(List<LockListener> listeners, List<LockClientCustomizer> customizers) {
    RedlockBuilder builder = configured();
    listeners.forEach(builder::listener);
    List<LockNode> nodes = open();
    try {
      builder.nodes(nodes);
      customizers.forEach(customizer -> customizer.customize(builder));
    } catch (RuntimeException | Error failure) {
      nodes.forEach(LockNode::close);
      throw failure;
    }
    try {
      return builder.build();
    } catch (IllegalArgumentException | LockException refused) {
      throw new UnusableSettingsException(
          "The lock's nodes cannot be used: " + refused.getMessage(),
          "Change lukko.nodes, or what the message names.",
          refused);
    }
  }

  private RedlockBuilder configured() {
    RedlockBuilder builder = Redlock.builder();
    Setting.apply(
        "lukko.drift-factor",
        properties.driftFactor(),
        () -> builder.driftFactor(properties.driftFactor()));
    Setting.apply(
        "lukko.drift-buffer",
        properties.driftBuffer(),
        () -> builder.driftBuffer(properties.driftBuffer()));
    Setting.apply("lukko.max-ttl", properties.maxTtl(), () -> builder.maxTtl(properties.maxTtl()));
    requireTtl();
    String fleet = properties.fleet();
    if (fleet != null) {
      Setting.apply("lukko.fleet", '"' + fleet + '"', () -> builder.fleet(fleet));
    }
    return builder.strict(properties.strict());
  }

  private void requireTtl() {
    Duration ttl = properties.ttl();
    double driftMillis =
        ttl.toMillis() * properties.driftFactor() + properties.driftBuffer().toMillis();
    if (ttl.toMillis() <= driftMillis || ttl.compareTo(properties.maxTtl()) > 0) {
      throw new UnusableSettingsException(
          "lukko.ttl must be above "
              + (long) Math.ceil(driftMillis)
              + " ms, which is its drift, and at most lukko.max-ttl of "
              + properties.maxTtl().toMillis()
              + " ms; it was "
              + ttl.toMillis()
              + " ms",
          "Change lukko.ttl in the application's configuration.",
          new IllegalArgumentException("ttl is " + ttl));
    }
  }

  private List<LockNode> open() {
    if (!properties.nodes().isEmpty()) {
      List<LockNode> nodes = new ConfiguredNodes(properties).open();
      LOG.log(
          System.Logger.Level.INFO,
          "locks are held by lukko.nodes: {0}",
          nodes.stream().map(LockNode::name).toList());
      return nodes;
    }
    if (store != null) {
      List<LockNode> nodes = store.open();
      LOG.log(System.Logger.Level.INFO, "locks are held by {0}", store.description());
      return nodes;
    }
    LOG.log(
        System.Logger.Level.WARNING,
        "locks are held in the memory of this process, and exclude no other process: set"
            + " lukko.nodes, or give the application a Redis connection or a data source");
    return List.of(new InMemoryNode("memory"));
  }
}
