package dev.lukko.release;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.LockEntry;
import dev.lukko.time.Ticker;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeptReleasesTest {
  private static final long MILLI = 1_000_000L;
  private static final long TTL_MILLIS = 400;

  private long nowMillis = 5;
  private final Ticker ticker =
      new Ticker() {
        @Override
        public long nanoTime() {
          return nowMillis * MILLI;
        }

        @Override
        public long wallMicros() {
          return nowMillis * 1_000;
        }
      };
  private final OpenEntries entries = new OpenEntries(ticker);
  private final KeptReleases<String> kept = new KeptReleases<>(ticker);
  private final Sent grant = new Sent();

  private PendingRelease<String> released(int number) {
    LockEntry entry = LockEntry.exclusive(List.of("r" + number), "owner-" + number);
    PendingRelease<String> release =
        kept.pending("release " + number, entries.granting(entry, grant, TTL_MILLIS));
    kept.sending(release);
    return release;
  }

  private static List<String> requests(List<PendingRelease<String>> releases) {
    return releases.stream().map(PendingRelease::request).toList();
  }

  @Test
  void releaseThatHasDeletedTheEntryOfItsGrantIsOver() {
    assertThat(kept.isOpenAfterAnswer(released(1), true, "second")).isFalse();
    assertThat(entries.size()).isZero();
  }

  @Test
  void answerOnTheConnectionOfTheGrantIsFinalAndOnAnotherOneIsNot() {
    assertThat(kept.isOpenAfterAnswer(released(1), false, "second")).isTrue();
    assertThat(kept.isOpenAfterAnswer(released(2), false, grant.connection)).isFalse();
    grant.answered = true;
    assertThat(kept.isOpenAfterAnswer(released(3), false, "second")).isFalse();
  }

  @Test
  void releaseThatHasDeletedWhatARepairLeftIsOpenUntilTheGrantIsAnswered() {
    PendingRelease<String> release = released(1);
    Sent repair = new Sent();
    entries.repairing(release.open().entry(), repair, TTL_MILLIS);
    repair.answered = true;
    assertThat(kept.isOpenAfterAnswer(release, true, "second")).isTrue();
  }

  @Test
  void isRepeatedWithPausesUntilOneWasSentWhenTheTtlHadPassed() {
    PendingRelease<String> release = released(1);
    long answeredAt = nowMillis;
    long sentAt = nowMillis;
    while (kept.isOpenAfterAnswer(release, false, "second")) {
      kept.keep(release);
      assertThat(kept.takeDue()).as("during the pause").isEmpty();
      do {
        nowMillis++;
      } while (kept.takeDue().isEmpty());
      kept.sending(release);
      sentAt = nowMillis;
      nowMillis += 3;
    }
    assertThat(sentAt - answeredAt).isBetween(TTL_MILLIS, 3 * TTL_MILLIS);
    assertThat(entries.size()).isZero();
  }

  @Test
  void releaseWithoutAnAnswerIsKeptForEverAndDueAtOnceWhenItsConnectionHasEnded() {
    PendingRelease<String> release = released(1);
    for (int i = 0; i < 100; i++) {
      nowMillis += TTL_MILLIS;
      assertThat(kept.isOpenAfterFault(release, false, true)).isTrue();
      kept.keep(release);
      assertThat(kept.takeDue()).containsExactly(release);
    }
    assertThat(kept.isOpenAfterFault(release, false, false)).isTrue();
    kept.keep(release);
    assertThat(kept.takeDue()).isEmpty();
  }

  @Test
  void errorsOfTheServerEndTheRepetitionWhenWhateverWasAppliedHasExpired() {
    PendingRelease<String> release = released(1);
    assertThat(kept.isOpenAfterFault(release, true, false)).isTrue();
    nowMillis += 2 * TTL_MILLIS - 1;
    assertThat(kept.isOpenAfterFault(release, true, false)).isTrue();
    nowMillis++;
    assertThat(kept.isOpenAfterFault(release, true, false)).isFalse();
  }

  @Test
  void newConnectionBeginsWithAllInTheirOrderAndEachIsGivenOnce() {
    List.of(released(2), released(1), released(3)).forEach(kept::keep);
    kept.keep(released(1)); // is kept already
    assertThat(requests(kept.takeForNewConnection()))
        .containsExactly("release 2", "release 1", "release 3");
    assertThat(kept.isEmpty()).isTrue();
  }

  @Test
  void newConnectionDropsWhatHasEndedByItself() {
    kept.keep(released(1));
    grant.answered = true;
    nowMillis += 3 * TTL_MILLIS;
    assertThat(kept.takeForNewConnection()).isEmpty();
    assertThat(entries.size()).isZero();
  }
}
