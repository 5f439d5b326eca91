package dev.lukko.testkit.sim;

import dev.lukko.redlock.RedlockBuilder;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Everything about a history that is decided before it begins.
 *
 * @param seed what all chance in it comes from
 * @param rateError by how much clocks may be wrong, as a fraction
 * @param settings changes the settings of the clients
 * @param ttlNanos the longest ttl
 * @param tauNanos the node timeout
 * @param driverTimeoutNanos after which time a driver gives up an answer
 * @param maxTtlNanos how long a forgetful node is kept from voting
 * @param meanLatencyNanos how long a message takes one way
 * @param watched whether nodes give hints
 * @param strict whether clients are strict
 * @param byReading whether a node that forgot returns by a reading of counters; then clocks may be
 *     wrong by anything
 * @param fair whether some contenders stand in a line
 * @param firstUnreachable the number of a client that cannot reach a node at first, or -1
 * @param nodeSkews the rates of the nodes' clocks
 * @param clientSkews the rates of the clients' clocks
 * @param wallOffsetsMicros the errors of the clients' wall clocks
 * @param leftoverMicros by how much the counters of each node are ahead of the clocks, from earlier
 *     clients; empty if they are not
 * @param contenders to which client each contender belongs
 * @param ops what the contenders do
 * @param faults what goes wrong
 */
record Plan(
    long seed,
    double rateError,
    UnaryOperator<RedlockBuilder> settings,
    Weather weather,
    long ttlNanos,
    long tauNanos,
    long driverTimeoutNanos,
    long retryDelayNanos,
    long maxTtlNanos,
    long meanLatencyNanos,
    boolean watched,
    boolean strict,
    boolean byReading,
    boolean fair,
    int firstUnreachable,
    List<Double> nodeSkews,
    List<Double> clientSkews,
    List<Long> wallOffsetsMicros,
    List<Long> leftoverMicros,
    List<Integer> contenders,
    List<Op> ops,
    List<Fault> faults) {

  /** The stated bound: a clock's rate is wrong by less than this. */
  static final double CLOCK_BOUND = 0.005;

  Plan with(List<Op> otherOps, List<Fault> otherFaults) {
    return with(weather, otherOps, otherFaults);
  }

  /** The same history, with the expectations of another weather. */
  Plan expecting(Weather other) {
    return with(other, ops, faults);
  }

  private Plan with(Weather otherWeather, List<Op> otherOps, List<Fault> otherFaults) {
    return new Plan(
        seed,
        rateError,
        settings,
        otherWeather,
        ttlNanos,
        tauNanos,
        driverTimeoutNanos,
        retryDelayNanos,
        maxTtlNanos,
        meanLatencyNanos,
        watched,
        strict,
        byReading,
        fair,
        firstUnreachable,
        nodeSkews,
        clientSkews,
        wallOffsetsMicros,
        leftoverMicros,
        contenders,
        List.copyOf(otherOps),
        List.copyOf(otherFaults));
  }

  boolean isCalm() {
    return weather == Weather.CALM;
  }

  boolean ratesKeepBound() {
    return rateError < CLOCK_BOUND;
  }

  /** Whether at most one lease may be valid at a time. */
  boolean excludes() {
    return weather.excludes() || (weather == Weather.AMNESIA && strict);
  }

  /** How long it takes at least until a clock that keeps its bound has moved on by so much. */
  long shortestTrueNanos(long clockNanos) {
    return (long) (clockNanos / (1 + CLOCK_BOUND));
  }

  long latency(Dice dice) {
    long latency = (long) (meanLatencyNanos * (0.5 + dice.unit()));
    return dice.below(100) == 0 && !isCalm() ? latency * 4 : latency;
  }
}
