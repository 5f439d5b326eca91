package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TokenSettlementTest {

  @Test
  void quorumOfTheSameHighestNumberIsTheToken() {
    assertThat(settled(7)).isEqualTo(new TokenSettlement(true, 7));
    assertThat(settled(7, 7)).isEqualTo(new TokenSettlement(true, 7));
    assertThat(settled(3, 7, 7)).isEqualTo(new TokenSettlement(true, 7));
    assertThat(settled(0, 7, 7)).isEqualTo(new TokenSettlement(true, 7));
  }

  @Test
  void quorumOfALowerNumberIsNoToken() {
    assertThat(settled(7, 7, 8)).isEqualTo(new TokenSettlement(false, 8));
    assertThat(settled(8, 7, 0)).isEqualTo(new TokenSettlement(false, 8));
  }

  @Test
  void numberToConfirmIsTheHighestThatWasSeen() {
    assertThat(settled(1, 2, 3)).isEqualTo(new TokenSettlement(false, 3));
    assertThat(settled(3, 1, 2)).isEqualTo(new TokenSettlement(false, 3));
    assertThat(settled(2, 3, 1, 1, 1)).isEqualTo(new TokenSettlement(false, 3));
  }

  private static TokenSettlement settled(long... counters) {
    return TokenSettlement.of(counters, Electorate.ofUnknown(counters.length));
  }
}
