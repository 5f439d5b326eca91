package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RoundTripsTest {
  private static final long MILLI = 1_000_000;

  @Test
  void coldStartIsAssumedUntilAQuorumHasAnswered() {
    RoundTrips trips = new RoundTrips(3);
    assertThat(trips.ofQuorumNanos()).isEqualTo(RoundTrips.ASSUMED_NANOS);

    trips.add(0, MILLI);
    assertThat(trips.ofQuorumNanos()).isEqualTo(RoundTrips.ASSUMED_NANOS);

    trips.add(2, 2 * MILLI);
    assertThat(trips.ofQuorumNanos()).isEqualTo(2 * MILLI);
  }

  @Test
  void slowMinorityDoesNotCount() {
    RoundTrips trips = new RoundTrips(5);
    for (int node = 0; node < 5; node++) {
      trips.add(node, MILLI);
    }
    trips.add(1, 900 * MILLI);
    trips.add(3, 800 * MILLI);
    assertThat(trips.ofQuorumNanos()).isEqualTo(MILLI);

    trips.add(4, 700 * MILLI);
    assertThat(trips.ofQuorumNanos()).isEqualTo(700 * MILLI);
  }

  @Test
  void slowAnswerCountsAtOnceAndIsForgottenByAnEighthWithEachFasterOne() {
    RoundTrips trips = new RoundTrips(1);
    trips.add(0, MILLI);
    trips.add(0, 401 * MILLI);
    assertThat(trips.ofQuorumNanos()).isEqualTo(401 * MILLI);

    trips.add(0, MILLI);
    assertThat(trips.ofQuorumNanos()).isEqualTo(351 * MILLI);
    for (int i = 0; i < 100; i++) {
      trips.add(0, MILLI);
    }
    assertThat(trips.ofQuorumNanos()).isBetween(MILLI, 2 * MILLI);
  }

  @Test
  void clockThatGoesBackIsNoAnswerBeforeItsQuestion() {
    RoundTrips trips = new RoundTrips(1);
    trips.add(0, -5);
    assertThat(trips.ofQuorumNanos()).isZero();
  }
}
