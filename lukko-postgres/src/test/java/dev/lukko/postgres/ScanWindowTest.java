package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Timestamp;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ScanWindowTest {
  private static final long SLOW = 100;

  private final ScanWindow window = new ScanWindow(SLOW, () -> 0);

  private static Timestamp rank(int second) {
    return Timestamp.from(Instant.ofEpochSecond(second));
  }

  private static String at(int second) {
    return Instant.ofEpochSecond(second).toString();
  }

  @Test
  void quickSearchesAllBeginAtTheStart() {
    window.searched(window.from(0), 0, SLOW - 1, rank(5));
    assertThat(window.from(SLOW)).isEqualTo(ScanWindow.START);
  }

  @Test
  void afterASlowSearchEachOneMovesTheBeginningOnUntilTheNextFromTheStart() {
    window.searched(window.from(0), 0, SLOW, rank(5));
    assertThat(window.from(SLOW)).isEqualTo(at(5));
    window.searched(at(5), SLOW, SLOW + 1, rank(8));
    assertThat(window.from(SLOW + 1)).isEqualTo(at(8));
    window.searched(at(8), SLOW + 1, SLOW + 2, null);
    assertThat(window.from(SLOW + 2)).as("nothing found moves nothing").isEqualTo(at(8));
    window.searched(at(5), SLOW + 2, SLOW + 3, rank(6));
    assertThat(window.from(SLOW + 3)).as("never back").isEqualTo(at(8));
    assertThat(window.from(11 * SLOW - 1)).isEqualTo(at(8));
    assertThat(window.from(11 * SLOW)).isEqualTo(ScanWindow.START);
  }

  @Test
  void searchThatBeganBeforeTheSlowOneEndedDoesNotHideWhatThatOneFound() {
    window.searched(window.from(0), 0, SLOW, rank(50));
    String late = window.from(11 * SLOW - 1);
    assertThat(late).isEqualTo(at(50));
    String full = window.from(11 * SLOW);
    window.searched(full, 11 * SLOW, 12 * SLOW, rank(5)); // Rows that a crash gave back.
    window.searched(late, 11 * SLOW - 1, 12 * SLOW + 1, rank(90));
    assertThat(window.from(12 * SLOW + 2)).isEqualTo(at(5));
  }
}
