package dev.lukko.redis.protocol;

import dev.lukko.redis.protocol.Standing.Known;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NotVoting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What a link tells of its server's right to vote.
 *
 * @param wanders whether the address may lead to another server than before
 * @param recordsKey where the server's records are
 * @param timeout how long the server has to answer
 */
record LinkStatus(boolean wanders, String recordsKey, Duration timeout) {
  private static final String FAILOVER =
      "its address comes from Sentinel: a failover promotes a replica that may lack the latest"
          + " locks, and two may then hold the same lock; a quorum of independent servers has no"
          + " such gap, and a fence refuses the stale holder";

  /** Asks the server; never fails. */
  CompletableFuture<NodeStatus> ask(Wire current) {
    return current
        .survey(recordsKey, timeout)
        .thenApply(survey -> warned(Standing.of(survey, Known.NOBODY))) // one wire, one server
        .exceptionally(error -> without(Faults.ofRequest(error)));
  }

  /** The status without a connection, for the reason that there is none. */
  NodeStatus without(NodeFault fault) {
    return warned(
        fault instanceof NotVoting unfit ? unfit.status() : NodeStatus.unreachable(fault.detail()));
  }

  private NodeStatus warned(NodeStatus status) {
    if (!wanders) {
      return status;
    }
    List<String> warnings = new ArrayList<>(status.warnings());
    warnings.add(FAILOVER);
    return new NodeStatus(
        status.state(),
        status.identity(),
        status.detail(),
        status.remaining(),
        warnings,
        status.traits(),
        status.memory());
  }
}
