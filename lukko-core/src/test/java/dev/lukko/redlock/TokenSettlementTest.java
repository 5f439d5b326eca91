package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TokenSettlementTest {

  @Test
  void quorumOfTheSameHighestNumberIsTheToken() {
    assertThat(TokenSettlement.of(List.of(7L), 1)).isEqualTo(new TokenSettlement(true, 7));
    assertThat(TokenSettlement.of(List.of(7L, 7L), 2)).isEqualTo(new TokenSettlement(true, 7));
    assertThat(TokenSettlement.of(List.of(3L, 7L, 7L), 2)).isEqualTo(new TokenSettlement(true, 7));
  }

  @Test
  void quorumOfALowerNumberIsNoToken() {
    assertThat(TokenSettlement.of(List.of(7L, 7L, 8L), 2)).isEqualTo(new TokenSettlement(false, 8));
    assertThat(TokenSettlement.of(List.of(8L, 7L), 2)).isEqualTo(new TokenSettlement(false, 8));
  }

  @Test
  void numberToConfirmIsTheHighestThatWasSeen() {
    for (List<Long> counters :
        List.of(List.of(1L, 2L, 3L), List.of(3L, 1L, 2L), List.of(2L, 3L, 1L, 1L, 1L))) {
      TokenSettlement settlement = TokenSettlement.of(counters, 3);
      assertThat(settlement.settled()).isFalse();
      assertThat(settlement.number()).isEqualTo(3);
    }
  }
}
