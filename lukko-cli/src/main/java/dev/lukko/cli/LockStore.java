package dev.lukko.cli;

import dev.lukko.LockReport;
import dev.lukko.cli.doctor.Diagnosis;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.spi.LockNode;
import java.time.Duration;
import java.util.List;

/** Where the locks are: on the nodes that were named, or in this machine's own file. */
sealed interface LockStore permits NamedNodes, EmbeddedFile {

  /** What {@code --verbose} says of it; without passwords. */
  String description();

  /** What a reader must know before any answer about it; empty if nodes were named. */
  String headline();

  /**
   * Opens it; the caller closes the nodes.
   *
   * @throws UsageException if it does not accept what was given; nothing is open then
   * @throws UnavailableException if it cannot be used; nothing is open then
   */
  List<LockNode> open();

  /** Fits the client's timing to it. */
  void tune(RedlockBuilder client);

  /** Removes what earlier runs have left and nobody needs, at the end of a run; in bounded time. */
  default void tidy(List<? extends LockNode> nodes) {}

  /** Asks all nodes what they have stored, and changes nothing. */
  default LockReport report(String resource, Duration timeout) {
    List<LockNode> nodes = open();
    try {
      return Redlock.inspect(nodes, resource, timeout);
    } finally {
      nodes.forEach(LockNode::close);
    }
  }

  /**
   * Looks at all nodes and says what is wrong with them.
   *
   * @param timeout how long each has to answer everything
   * @param maxTtl the longest ttl that any client asks for
   * @throws UsageException if it does not accept what was given
   */
  Diagnosis diagnose(Duration timeout, Duration maxTtl);
}
