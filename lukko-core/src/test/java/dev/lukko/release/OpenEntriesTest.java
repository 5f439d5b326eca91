package dev.lukko.release;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.LockEntry;
import dev.lukko.time.Ticker;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenEntriesTest {
  private final OpenEntries entries = new OpenEntries(Ticker.system());

  private static LockEntry entry(int number) {
    return LockEntry.exclusive(List.of("r" + number), "owner-" + number);
  }

  @Test
  void entryThatCannotBeAtTheServerIsForgotten() {
    OpenEntry open = entries.granting(entry(1), new Sent(), 1_000);
    assertThat(entries.releasing(entry(1))).isSameAs(open);

    open.close();

    assertThat(entries.releasing(entry(1))).isNull();
    assertThat(entries.size()).isZero();
  }

  @Test
  void leasesThatNobodyReleasesAreForgottenWhenTheirTtlIsLongOver() {
    for (int i = 0; i < 100_000; i++) {
      Sent grant = new Sent();
      entries.granting(entry(i), grant, 0);
      grant.answered = true;
    }
    assertThat(entries.size()).isLessThan(2_500);
  }

  @Test
  void grantsWithoutAnAnswerAreRememberedWhateverTheirNumber() {
    for (int i = 0; i < 5_000; i++) {
      entries.granting(entry(i), new Sent(), 0);
    }
    assertThat(entries.size()).isEqualTo(5_000);
  }
}
