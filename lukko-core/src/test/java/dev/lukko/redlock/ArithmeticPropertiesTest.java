package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Holder;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.time.Scheduler;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

/** What is true of the numbers of a lease, whichever they are: the edges are tried first. */
class ArithmeticPropertiesTest {
  private static final long MILLI = 1_000_000;
  private static final long DAYS_100 = TimeUnit.DAYS.toNanos(100);

  /** From 1 ms to the longest that there is. */
  @Provide
  Arbitrary<Long> ttls() {
    return Arbitraries.longs()
        .between(MILLI, Long.MAX_VALUE)
        .edgeCases(edges -> edges.add(MILLI, MILLI + 1, Long.MAX_VALUE - 1, Long.MAX_VALUE));
  }

  /** A monotonic clock begins anywhere. */
  @Provide
  Arbitrary<Long> starts() {
    return Arbitraries.longs()
        .edgeCases(edges -> edges.add(Long.MIN_VALUE, -1L, 0L, 1L, Long.MAX_VALUE));
  }

  @Property
  void driftIsTheProductRoundedUpPlusTheBufferAndNeverOverflows(
      @ForAll("ttls") long ttl,
      @ForAll @DoubleRange(max = 1, maxIncluded = false) double factor,
      @ForAll @LongRange(min = 0) long buffer) {
    long drift = ValidityWindow.driftNanos(ttl, factor, buffer);

    BigInteger exact =
        new BigDecimal(factor)
            .multiply(BigDecimal.valueOf(ttl))
            .setScale(0, RoundingMode.CEILING)
            .toBigInteger()
            .add(BigInteger.valueOf(buffer))
            .min(BigInteger.valueOf(Long.MAX_VALUE));
    assertThat(drift).isGreaterThanOrEqualTo(buffer);
    long off = exact.subtract(BigInteger.valueOf(drift)).abs().longValueExact();
    assertThat(off).isLessThanOrEqualTo(ttl <= DAYS_100 ? 4 : ttl / 1_000_000_000);
  }

  @Property
  void remainingTimeAtTheStartIsTheTtlLessTheDrift(
      @ForAll("starts") long start,
      @ForAll("ttls") long ttl,
      @ForAll @LongRange(min = 0, max = MILLI) long drift) {
    ValidityWindow window = ValidityWindow.of(start, 0, ttl, drift);

    // The wall clock counts in whole microseconds, also at the end of the range.
    long farthest = Long.MAX_VALUE / 1_000 * 1_000;
    assertThat(window.remainingNanos(start, Long.MIN_VALUE / 4))
        .isEqualTo(Math.min(ttl - drift, farthest));
  }

  @Property
  void remainingTimeIsLessByWhatHasElapsedAndMoreByWhatHasNot(
      @ForAll("starts") long start,
      @ForAll @LongRange(min = MILLI, max = Long.MAX_VALUE / 4) long ttl,
      @ForAll @LongRange(min = -Long.MAX_VALUE / 4, max = Long.MAX_VALUE / 4) long elapsed) {
    ValidityWindow window = ValidityWindow.of(start, 0, ttl, 0);

    long remaining = window.remainingNanos(start + elapsed, Long.MIN_VALUE / 4);

    assertThat(remaining).isEqualTo(ttl - elapsed);
    assertThat(window.isOpen(start + elapsed, Long.MIN_VALUE / 4)).isEqualTo(elapsed < ttl);
  }

  @Property
  void wallClockCanOnlyEndItEarly(
      @ForAll("starts") long start,
      @ForAll @LongRange(min = MILLI, max = Long.MAX_VALUE / 4) long ttl,
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE / 4) long elapsed,
      @ForAll @LongRange(min = -4_000_000_000_000_000L, max = 4_000_000_000_000_000L) long wall) {
    ValidityWindow window = ValidityWindow.of(start, 0, ttl, 0);

    long remaining = window.remainingNanos(start + elapsed, wall);

    assertThat(remaining).isLessThanOrEqualTo(ttl - elapsed);
    if (wall >= (ttl + 999) / 1_000) {
      assertThat(remaining).isLessThanOrEqualTo(0);
    }
  }

  @Property
  void limitedWindowEndsWithTheEarlierOnEachClock(
      @ForAll("starts") long start,
      @ForAll @LongRange(min = MILLI, max = Long.MAX_VALUE / 4) long one,
      @ForAll @LongRange(min = MILLI, max = Long.MAX_VALUE / 4) long other) {
    ValidityWindow window = ValidityWindow.of(start, 0, one, 0);
    ValidityWindow limit = ValidityWindow.of(start, 0, other, 0);

    ValidityWindow limited = window.upTo(limit);

    assertThat(limited).isEqualTo(limit.upTo(window));
    assertThat(limited.endNanos() - start).isEqualTo(Math.min(one, other));
    assertThat(limited.wallEndMicros()).isEqualTo(Math.min(one, other) / 1_000);
  }

  @Property
  void decidedRoundStaysDecidedWhateverElseIsAnswered(
      @ForAll @IntRange(min = 1, max = 9) int nodes,
      @ForAll @Size(max = 9) List<@IntRange(max = 2) Integer> votes) {
    int[] counts = new int[3];
    boolean won = false;
    boolean lost = false;
    for (int vote : votes.subList(0, Math.min(nodes, votes.size()))) {
      counts[vote]++;
      Tally tally = new Tally(nodes, counts[0], counts[1], counts[2]);
      assertThat(tally.won()).isEqualTo(won || counts[0] > nodes / 2);
      assertThat(!lost || tally.lost()).isTrue();
      won = tally.won();
      lost = tally.lost();
      assertThat(won && lost).isFalse();
    }
  }

  @Property
  void tokenIsTheHighestCounterAndSettledIfAQuorumSaidThatOne(
      @ForAll @Size(min = 1, max = 9) List<@LongRange(min = 1, max = 5) Long> counters) {
    int quorum = Tally.quorumOf(counters.size());
    long[] byNode = counters.stream().mapToLong(Long::longValue).toArray();
    TokenSettlement settlement = TokenSettlement.of(byNode, Electorate.ofUnknown(counters.size()));

    long highest = counters.stream().mapToLong(Long::longValue).max().orElseThrow();
    long same = counters.stream().filter(counter -> counter == highest).count();
    assertThat(settlement.settled()).isEqualTo(same >= quorum);
    assertThat(settlement.number()).isEqualTo(highest);
  }

  @Property
  void waiterAsksAgainBeforeTheReportedEndAndNeverBeforeNow(
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE / 4) long beat,
      @ForAll boolean watched,
      @ForAll @Size(max = 5) List<@LongRange(min = -10) Long> remaining) {
    List<Refused> refusals =
        remaining.stream()
            .map(Duration::ofNanos)
            .map(left -> new Refused(1, new Holder("x", Optional.empty(), Optional.of(left))))
            .toList();

    long wait = WaitPlan.untilNextRoundNanos(beat, watched, 3, refusals);

    assertThat(wait).isBetween(0L, Math.max(beat, TimeUnit.SECONDS.toNanos(1)) + MILLI);
    for (long left : remaining) {
      assertThat(wait - MILLI).isLessThanOrEqualTo(Math.max(0, left));
    }
  }

  @Property
  void durationsSaturate(@ForAll long seconds, @ForAll @IntRange(max = 999_999_999) int nanos) {
    BigInteger exact =
        BigInteger.valueOf(seconds)
            .multiply(BigInteger.valueOf(1_000_000_000))
            .add(BigInteger.valueOf(nanos));
    long expected =
        exact
            .min(BigInteger.valueOf(Long.MAX_VALUE))
            .max(BigInteger.valueOf(Long.MIN_VALUE))
            .longValueExact();

    assertThat(Scheduler.toNanosSaturated(Duration.ofSeconds(seconds, nanos))).isEqualTo(expected);
  }
}
