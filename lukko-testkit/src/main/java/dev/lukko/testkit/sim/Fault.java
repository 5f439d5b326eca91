package dev.lukko.testkit.sim;

import java.util.Locale;

/**
 * One fault of a schedule.
 *
 * @param hook the moment at which it strikes
 * @param number the how-manieth moment of that kind in the history, from 1; for {@link Hook#TIME}
 *     the time in microseconds
 * @param act what happens
 * @param nodes to which nodes, as bits, where it happens to nodes
 * @param client to which client, where the moment has none
 * @param nanos for how long, or by how much
 */
record Fault(Hook hook, int number, Act act, int nodes, int client, long nanos) {

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    if (hook == Hook.TIME) {
      text.append(String.format(Locale.ROOT, "at %.3f ms: ", number / 1e3));
    } else {
      text.append("at ").append(hook).append(" no. ").append(number).append(": ");
    }
    text.append(act);
    switch (act) {
      case DOWN,
          HANG,
          FORGET,
          MOVE,
          NEIGHBOUR,
          CHANGE,
          JUMP_NODE,
          CUT_REQUESTS,
          CUT_REPLIES,
          CUT_BOTH,
          HOLD_BOTH ->
          text.append(" nodes ").append(nodesText());
      default -> {}
    }
    if (hook == Hook.TIME && act != Act.DOWN && act != Act.HANG && act != Act.FORGET) {
      text.append(" client ").append(client);
    }
    if (nanos != 0) {
      text.append(String.format(Locale.ROOT, " %.3f ms", nanos / 1e6));
    }
    return text.toString();
  }

  private String nodesText() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < Integer.SIZE; i++) {
      if ((nodes >> i & 1) != 0) {
        text.append(text.isEmpty() ? "" : ",").append(i);
      }
    }
    return text.toString();
  }
}
