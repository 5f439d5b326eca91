package dev.lukko.redlock;

import dev.lukko.NodeAnswer;
import dev.lukko.NodeAnswer.Kind;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Replies of nodes, put into words for errors, outcomes and events. */
final class Answers {
  private Answers() {}

  static List<NodeAnswer> of(List<LockNode> nodes, List<? extends @Nullable Object> replies) {
    List<NodeAnswer> answers = new ArrayList<>(nodes.size());
    for (int i = 0; i < nodes.size(); i++) {
      answers.add(answer(nodes.get(i).name(), replies.get(i)));
    }
    return answers;
  }

  private static NodeAnswer answer(String node, @Nullable Object reply) {
    if (reply == null) {
      return new NodeAnswer(node, Kind.PENDING, "");
    }
    if (reply instanceof NodeFault fault) {
      Kind kind = fault instanceof Unknown ? Kind.UNKNOWN : Kind.FAILED;
      return new NodeAnswer(node, kind, fault.detail(), fault.cause());
    }
    if (reply instanceof GrantReply.Refused refused) {
      return new NodeAnswer(node, Kind.HELD, "by " + refused.holder());
    }
    if (reply instanceof ExtendReply.HeldByOther other) {
      return new NodeAnswer(node, Kind.NOT_HELD, "held by " + other.holder());
    }
    if (reply instanceof ConfirmReply.Higher higher) {
      return new NodeAnswer(node, Kind.GRANTED, "counter is at " + higher.counter());
    }
    if (reply instanceof GrantReply.Granted || reply instanceof ConfirmReply.Confirmed) {
      return new NodeAnswer(node, Kind.GRANTED, "");
    }
    if (reply instanceof ExtendReply.Extended) {
      return new NodeAnswer(node, Kind.EXTENDED, "");
    }
    return new NodeAnswer(
        node, reply instanceof ReleaseReply.Released ? Kind.RELEASED : Kind.NOT_HELD, "");
  }
}
