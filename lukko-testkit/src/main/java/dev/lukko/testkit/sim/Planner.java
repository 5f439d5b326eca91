package dev.lukko.testkit.sim;

import dev.lukko.redlock.RedlockBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Draws a history from a seed: its machines, its contenders, and through {@link Faults} its faults.
 */
final class Planner {
  private static final long MILLI = 1_000_000L;
  private static final long HOUR_MICROS = 3_600_000_000L;
  private static final long LEFTOVERS = 0x6c6566746f766572L;
  private static final long READING = 0x72656164696e67L;

  private final Dice dice;
  private final double rateError;
  private Weather weather = Weather.CALM;

  private Planner(Dice dice, double rateError) {
    this.dice = dice;
    this.rateError = rateError;
  }

  static Plan plan(long seed, double rateError, UnaryOperator<RedlockBuilder> settings) {
    return new Planner(new Dice(Dice.mix(seed)), rateError).plan(seed, settings);
  }

  private Plan plan(long seed, UnaryOperator<RedlockBuilder> settings) {
    weather = drawWeather();
    int nodes = dice.pick(1, 2, 3, 3, 3, 3, 4, 5, 5, 5);
    if (weather == Weather.FORGETFUL) {
      nodes = dice.pick(3, 3, 4, 5);
    }
    int clients = 2 + dice.below(3);
    long ttl = dice.pick(100, 200, 500, 2_000) * MILLI + dice.below(10) * MILLI;
    long tau = dice.chance(70) ? Math.max(10 * MILLI, ttl / 20) : ttl / 4;
    boolean fair = dice.chance(15);
    List<Integer> contenders = drawContenders(clients);
    List<Op> ops = drawOps(contenders.size(), ttl, fair);
    Dice own = new Dice(Dice.mix(seed ^ LEFTOVERS));
    Dice reading = new Dice(Dice.mix(seed ^ READING)); // The rest of a history stays as it was.
    boolean byReading = weather == Weather.FORGETFUL && reading.chance(40);
    Plan plan =
        new Plan(
            seed,
            rateError,
            settings,
            weather,
            ttl,
            tau,
            dice.chance(50) ? 2 * tau : 3 * ttl,
            dice.between(ttl / 12, ttl / 4),
            ttl + dice.pick(0L, 1L, ttl / 2),
            dice.between(50_000, Math.min(1_500_000, tau / 12)),
            dice.chance(60),
            weather == Weather.AMNESIA && dice.chance(50),
            byReading,
            fair,
            dice.chance(5) ? dice.below(clients) : -1,
            skews(nodes, rateError),
            skews(clients + 1, weather == Weather.AMNESIA ? 0 : rateError),
            wallOffsets(clients + 1, ttl, byReading ? reading : null),
            leftovers(own, nodes, byReading),
            contenders,
            ops,
            List.of());
    List<Fault> faults = new ArrayList<>();
    if (weather != Weather.CALM) {
      faults.addAll(new Faults(dice, plan).draw());
      if (!plan.leftoverMicros().isEmpty()) {
        faults.addAll(new Faults(own, plan).drawOfConfirmations());
      }
    }
    return plan.with(ops, faults);
  }

  private Weather drawWeather() {
    int draw = dice.below(100);
    return draw < 8
        ? Weather.CALM
        : draw < 62
            ? Weather.STORMY
            : draw < 82 ? Weather.FORGETFUL : draw < 95 ? Weather.LYING : Weather.AMNESIA;
  }

  private List<Double> skews(int count, double most) {
    List<Double> skews = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      skews.add(
          switch (dice.below(3)) {
            case 0 -> most;
            case 1 -> -most;
            default -> most * (2 * dice.unit() - 1);
          });
    }
    return List.copyOf(skews);
  }

  /**
   * Nodes that forget need wall clocks that differ by less than the quarantine, unless they return
   * by a reading, and by nothing if there is none; no other promise rests on them.
   */
  private List<Long> wallOffsets(int count, long ttl, @Nullable Dice reading) {
    List<Long> offsets = new ArrayList<>();
    long most =
        switch (weather) {
          case AMNESIA -> 0;
          case FORGETFUL ->
              reading == null ? ttl / 1_000 / 3 : reading.pick(ttl / 1_000, HOUR_MICROS);
          default -> dice.pick(0L, 0L, 2_000L, ttl / 1_000, HOUR_MICROS);
        };
    for (int i = 0; i < count; i++) {
      offsets.add((long) (most * (2 * dice.unit() - 1)));
    }
    return List.copyOf(offsets);
  }

  /**
   * Counters that differ, and that no clock is ahead of: then the first tokens, and those after
   * rounds that reached some nodes only, need a second question. They have a die of their own, so
   * that every other part of a seed's history is what it was without them.
   */
  private List<Long> leftovers(Dice own, int nodes, boolean byReading) {
    // Where nodes forget, the order rests on clocks that are not behind what was forgotten.
    boolean byClock = (weather == Weather.FORGETFUL && !byReading) || weather == Weather.AMNESIA;
    if (byClock || !own.chance(10)) {
      return List.of();
    }
    List<Long> leftovers = new ArrayList<>();
    for (int i = 0; i < nodes; i++) {
      leftovers.add(own.chance(50) ? 0 : HOUR_MICROS + own.below(5));
    }
    return List.copyOf(leftovers);
  }

  private List<Integer> drawContenders(int clients) {
    int count = clients + dice.below(3);
    return IntStream.range(0, count).mapToObj(i -> i % clients).toList();
  }

  private List<Op> drawOps(int contenders, long ttl, boolean fair) {
    List<Op> ops = new ArrayList<>();
    boolean two = dice.chance(20);
    boolean readers = dice.chance(15);
    for (int contender = 0; contender < contenders; contender++) {
      int count = 1 + dice.below(4);
      for (int i = 0; i < count; i++) {
        ops.add(drawOp(contender, ttl, two, readers, fair));
      }
    }
    return ops;
  }

  private Op drawOp(int contender, long ttl, boolean two, boolean readers, boolean fair) {
    Op.Manner manner = drawManner();
    List<String> resources =
        !two ? List.of("r") : dice.pick(List.of("r"), List.of("s"), List.of("r", "s"));
    long hold =
        switch (manner) {
          case BRIEF -> dice.between(0, dice.pick(ttl / 50, ttl / 5, ttl));
          case TO_THE_END -> ttl + dice.pick(0L, 1L, -ttl / 200, ttl / 200, -MILLI, MILLI);
          case EXTENDING -> dice.between(ttl / 2, 3 * ttl);
          case AUTOMATIC -> dice.between(ttl / 2, 4 * ttl);
          case FORGETFUL -> 0;
          case DYING -> dice.between(0, ttl);
          case FICKLE -> dice.between(0, dice.pick(ttl / 100, ttl));
        };
    return new Op(
        contender,
        dice.chance(50) ? dice.below(2_000_000) : dice.between(0, ttl),
        resources,
        manner,
        manner != Op.Manner.EXTENDING && dice.chance(20) ? ttl / 2 / MILLI * MILLI : ttl,
        dice.pick(0L, ttl / 2, 2 * ttl, 3 * ttl, Op.BY_RETRIES),
        hold,
        readers && dice.chance(60),
        fair && dice.chance(70));
  }

  private Op.Manner drawManner() {
    int draw = dice.below(100);
    return draw < 40
        ? Op.Manner.BRIEF
        : draw < 55
            ? Op.Manner.TO_THE_END
            : draw < 70
                ? Op.Manner.EXTENDING
                : draw < 82
                    ? Op.Manner.AUTOMATIC
                    : draw < 89
                        ? Op.Manner.FICKLE
                        : draw < 95 ? Op.Manner.FORGETFUL : Op.Manner.DYING;
  }
}
