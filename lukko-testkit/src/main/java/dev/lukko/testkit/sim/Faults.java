package dev.lukko.testkit.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * Draws the faults of a history. They aim at weak moments: the borders of a round's phases, and
 * times near the end of a ttl. Faults at random times alone would miss most mistakes.
 */
final class Faults {
  private static final long MILLI = 1_000_000L;

  private static final Hook[] IN_CLIENT = {
    Hook.GRANT_SENT,
    Hook.GRANT_REPLIED,
    Hook.GRANT_REPLIED,
    Hook.CONFIRM_SENT,
    Hook.CONFIRM_REPLIED,
    Hook.EXTEND_SENT,
    Hook.EXTEND_REPLIED,
    Hook.RELEASE_SENT,
    Hook.LEASED,
    Hook.CHECKED,
    Hook.WRITE_SENT,
    Hook.CLOCK_READ,
    Hook.CLOCK_READ,
    Hook.CLOCK_READ,
    Hook.CLOCK_READ,
    Hook.CLOCK_READ
  };

  private static final Hook[] SENT = {
    Hook.GRANT_SENT,
    Hook.GRANT_SENT,
    Hook.GRANT_SENT,
    Hook.CONFIRM_SENT,
    Hook.EXTEND_SENT,
    Hook.EXTEND_SENT,
    Hook.REPAIR_SENT,
    Hook.RELEASE_SENT,
    Hook.OTHER_SENT
  };

  private static final Act[] OF_MESSAGE = {
    Act.LOSE_REQUEST,
    Act.LOSE_REPLY,
    Act.RESET,
    Act.DELAY_REQUEST,
    Act.OVERTAKEN_REQUEST,
    Act.DELAY_REPLY,
    Act.REPEAT
  };

  private static final Act[] CUTS = {
    Act.CUT_REQUESTS, Act.CUT_REPLIES, Act.CUT_BOTH, Act.HOLD_BOTH
  };

  private final Dice dice;
  private final Plan plan;
  private final int nodes;
  private final int minority;
  private final long ttl;
  private final List<Fault> faults = new ArrayList<>();

  Faults(Dice dice, Plan plan) {
    this.dice = dice;
    this.plan = plan;
    this.nodes = plan.nodeSkews().size();
    this.ttl = plan.ttlNanos();
    this.minority = drawMinority();
  }

  /** Some nodes, but fewer than a quorum, as bits. */
  private int drawMinority() {
    int most = (nodes - 1) / 2;
    int drawn = 0;
    for (int i = 0; i < most; i++) {
      drawn |= 1 << dice.below(nodes);
    }
    return drawn;
  }

  List<Fault> draw() {
    int count = 1 + dice.below(5);
    for (int i = 0; i < count; i++) {
      drawOne();
    }
    if (plan.weather() == Weather.FORGETFUL && minority != 0) {
      times(1 + dice.below(3), () -> add(anyHook(), Act.FORGET, minority & anyNodes(), 0));
    }
    if (plan.weather() == Weather.LYING) {
      times(1 + dice.below(3), () -> add(anyHook(), Act.JUMP_NODE, anyNodes(), jump()));
    }
    if (plan.weather() == Weather.AMNESIA) {
      add(anyHook(), Act.FORGET, dice.chance(60) ? all() : majority(), 0);
    }
    drawOfFleets();
    drawOfChanges();
    drawOfRepairs();
    return faults;
  }

  /** Something happens to the confirmations of a history whose tokens need them. */
  List<Fault> drawOfConfirmations() {
    times(1 + dice.below(2), () -> drawBurst(Hook.CONFIRM_SENT));
    return faults;
  }

  private static void times(int count, Runnable what) {
    for (int i = 0; i < count; i++) {
      what.run();
    }
  }

  private void drawOne() {
    int draw = dice.below(100);
    if (draw < 30) {
      add(dice.pick(IN_CLIENT), Act.PAUSE, 0, aimed());
    } else if (draw < 60) {
      drawBurst();
    } else if (draw < 72) {
      add(anyHook(), dice.pick(CUTS), anyNodes(), aimed());
    } else if (draw < 82) {
      add(anyHook(), dice.chance(50) ? Act.DOWN : Act.HANG, anyNodes(), aimed());
    } else if (draw < 88) {
      add(dice.pick(IN_CLIENT), Act.KILL, 0, 0);
    } else if (draw < 91) {
      drawSuspension();
    } else if (draw < 95) {
      add(Hook.WRITE_SENT, Act.HOLD_WRITE, 0, aimed());
    } else if (plan.weather() != Weather.FORGETFUL && plan.weather() != Weather.AMNESIA) {
      drawWallJump();
    }
  }

  /** Other fleets on these nodes, and addresses that lead elsewhere: in every fourth history. */
  private void drawOfFleets() {
    Dice own = new Dice(plan.seed() ^ 0x666c6565747321L); // The rest of a history stays as it was.
    if (nodes < 3 || own.below(4) != 0 || plan.strict()) {
      return;
    }
    int clients = plan.wallOffsetsMicros().size() - 1;
    for (int i = 1 + own.below(3); i > 0; i--) {
      int at = 1 + own.below((int) (6 * ttl / 1_000));
      boolean move = own.below(2) == 0 && !plan.weather().losesMajority();
      int one = own.below(nodes);
      int another = own.below(nodes);
      int struck = move ? 1 << one | 1 << another : 1 + own.below(all());
      faults.add(
          new Fault(
              Hook.TIME,
              at,
              move ? Act.MOVE : Act.NEIGHBOUR,
              struck,
              own.below(clients),
              move ? own.pick(ttl / 2, ttl, 3 * ttl) : 0));
    }
  }

  /**
   * A node lacks an entry, since its grant is late or it has forgotten it, so that an extension
   * repairs it; repairs stay on their way while the connection breaks, and arrive behind the
   * release. In every fourth history, or every second one whose nodes forget.
   */
  private void drawOfRepairs() {
    Dice own = new Dice(plan.seed() ^ 0x7265706169727321L);
    boolean forgotten = plan.weather() == Weather.FORGETFUL && minority != 0;
    if (nodes < 3 || own.below(forgotten ? 2 : 4) != 0) {
      return;
    }
    if (forgotten) {
      faults.add(new Fault(Hook.LEASED, 1 + own.below(3), Act.FORGET, minority, 0, 0));
    } else {
      long late = own.between(ttl / 3, 2 * ttl);
      faults.add(new Fault(Hook.GRANT_SENT, 1 + own.below(2 * nodes), Act.RESET, 0, 0, late));
    }
    for (int repair = 1; repair <= 3; repair++) {
      if (own.chance(forgotten ? 80 : 60)) {
        long late = own.pick(ttl / 8, ttl / 4, ttl / 2, ttl, 2 * ttl, 3 * ttl);
        faults.add(new Fault(Hook.REPAIR_SENT, repair, Act.RESET, 0, 0, late));
      }
    }
  }

  /**
   * The set of nodes is changed, once or more often, and whoever changes it may die or have
   * company: in every fifth history. Not where a majority of the next set may forget.
   */
  private void drawOfChanges() {
    Dice own = new Dice(plan.seed() ^ 0x6368616e676573L); // The rest stays as it was.
    boolean strange = plan.strict() || plan.weather().losesMajority() || has(Act.NEIGHBOUR);
    if (nodes < 3 || own.below(5) != 0 || strange) {
      return;
    }
    int at = 1 + own.below((int) (3 * ttl / 1_000));
    int target = drawTarget(own);
    boolean forgets = plan.weather() == Weather.FORGETFUL;
    if (forgets && 2 * Integer.bitCount(target & minority) >= Integer.bitCount(target)) {
      return;
    }
    change(own, at, target);
    if (own.below(2) == 0) { // the same again, at the same time or later
      change(own, at + own.below((int) (2 * ttl / 1_000)), target);
    }
    if (own.below(4) == 0 && !forgets) {
      change(own, at + own.below((int) (3 * ttl / 1_000)), drawTarget(own));
    }
    if (own.below(3) == 0 && !forgets) { // and back
      change(own, at + (int) (own.pick(2 * ttl, 3 * ttl) / 1_000), all());
    }
  }

  private int drawTarget(Dice own) {
    int target = all() & ~(1 << own.below(nodes));
    return nodes == 5 && own.below(2) == 0 ? target & ~(1 << own.below(nodes)) : target;
  }

  private void change(Dice own, int at, int target) {
    long dies = own.below(2) == 0 ? 0 : own.pick(plan.tauNanos(), ttl / 2, ttl + ttl / 50, 2 * ttl);
    faults.add(new Fault(Hook.TIME, at, Act.CHANGE, target, 0, dies));
  }

  private void drawSuspension() {
    if (!has(Act.JUMP_WALL)) {
      add(dice.pick(IN_CLIENT), Act.SUSPEND, 0, aimed());
    }
  }

  private boolean has(Act act) {
    return faults.stream().anyMatch(fault -> fault.act() == act);
  }

  /** The wall clock does not go back where the monotonic one stood still: nobody could know. */
  private void drawWallJump() {
    long by = dice.pick(ttl, 3_600_000 * MILLI, MILLI);
    if (!has(Act.SUSPEND)) {
      add(anyHook(), Act.JUMP_WALL, 0, dice.chance(50) ? by : -by);
    }
  }

  /** The same happens to some messages in a row: a round goes to all nodes at once. */
  private void drawBurst() {
    drawBurst(dice.pick(SENT));
  }

  private void drawBurst(Hook hook) {
    Act act = dice.pick(OF_MESSAGE);
    int first = number(hook);
    int length = dice.chance(40) ? 1 : 1 + dice.below(nodes);
    boolean atOnce = act == Act.LOSE_REPLY || act == Act.LOSE_REQUEST;
    long nanos = atOnce || (act == Act.RESET && dice.chance(50)) ? 0 : aimed();
    for (int i = 0; i < length; i++) {
      faults.add(new Fault(hook, first + i, act, 0, 0, nanos));
    }
  }

  private void add(Hook hook, Act act, int whichNodes, long nanos) {
    int client = dice.below(plan.wallOffsetsMicros().size() - 1);
    boolean ofNodes = act != Act.PAUSE && whichNodes == 0;
    boolean needsNodes =
        switch (act) {
          case CUT_REQUESTS, CUT_REPLIES, CUT_BOTH, HOLD_BOTH, DOWN, HANG, FORGET, JUMP_NODE ->
              ofNodes;
          default -> false;
        };
    if (!needsNodes) {
      faults.add(new Fault(hook, number(hook), act, whichNodes, client, nanos));
    }
  }

  /** How often a moment of this kind may come in a history. */
  private int number(Hook hook) {
    int most =
        switch (hook) {
          case TIME -> (int) (6 * ttl / 1_000);
          case CLOCK_READ -> 400;
          case GRANT_SENT, GRANT_APPLIED, GRANT_REPLIED -> 16 * nodes;
          case RELEASE_SENT, RELEASE_APPLIED, RELEASE_REPLIED -> 12 * nodes;
          case EXTEND_SENT, EXTEND_APPLIED, EXTEND_REPLIED -> 8 * nodes;
          case CONFIRM_SENT, CONFIRM_APPLIED, CONFIRM_REPLIED -> 2 * nodes;
          case REPAIR_SENT, REPAIR_APPLIED, REPAIR_REPLIED -> nodes;
          case OTHER_SENT, OTHER_APPLIED, OTHER_REPLIED -> 4 * nodes;
          case LEASED, LOST -> 8;
          case CHECKED, WRITE_SENT -> 12;
        };
    return 1 + dice.below(most);
  }

  private Hook anyHook() {
    return dice.chance(30) ? Hook.TIME : dice.pick(Hook.values());
  }

  private int all() {
    return (1 << nodes) - 1;
  }

  private int majority() {
    int drawn = all();
    for (int i = 0; i < nodes - (nodes / 2 + 1); i++) {
      drawn &= ~(1 << dice.below(nodes));
    }
    return drawn;
  }

  private int anyNodes() {
    return dice.chance(15) ? all() : 1 + dice.below(all());
  }

  /** A time near one at which something ends. */
  private long aimed() {
    long drift = ttl / 100 + 2 * MILLI;
    long base =
        dice.pick(
            plan.tauNanos(),
            ttl / 3,
            ttl / 2,
            ttl - drift,
            ttl - drift,
            ttl,
            ttl,
            ttl + drift,
            2 * ttl,
            3 * ttl);
    long off = dice.pick(0L, MILLI, -MILLI, ttl / 100, -ttl / 100, ttl / 20, -ttl / 20);
    return Math.max(100_000, base + (long) (off * dice.unit()));
  }

  private long jump() {
    long by = dice.pick(ttl, ttl / 2, 2 * ttl, ttl + ttl / 100);
    return dice.chance(60) ? by : -by;
  }
}
