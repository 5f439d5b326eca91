package dev.lukko.redis.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.LockEntry;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenEntriesTest {
  private final OpenEntries entries = new OpenEntries();

  private static LockEntry entry(int number) {
    return LockEntry.exclusive(List.of("r" + number), "owner-" + number);
  }

  private static ScriptCall call() {
    return new ScriptCall(Script.GRANT, "owner", new String[] {"key"});
  }

  @Test
  void entryThatCannotBeAtTheServerIsForgotten() {
    OpenEntry open = entries.granting(entry(1), call(), 1_000);
    assertThat(entries.get(entry(1))).isSameAs(open);

    open.close();

    assertThat(entries.get(entry(1))).isNull();
    assertThat(entries.size()).isZero();
  }

  @Test
  void leasesThatNobodyReleasesAreForgottenWhenTheirTtlIsLongOver() {
    for (int i = 0; i < 100_000; i++) {
      ScriptCall grant = call();
      entries.granting(entry(i), grant, 0);
      grant.answered();
    }
    assertThat(entries.size()).isLessThan(2_500);
  }

  @Test
  void grantsWithoutAnAnswerAreRememberedWhateverTheirNumber() {
    for (int i = 0; i < 5_000; i++) {
      entries.granting(entry(i), call(), 0);
    }
    assertThat(entries.size()).isEqualTo(5_000);
  }
}
