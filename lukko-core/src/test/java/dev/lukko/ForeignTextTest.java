package dev.lukko;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What servers and other programs have said can be shown, by whichever type it reaches a caller.
 */
class ForeignTextTest {
  private static final String FOREIGN = "a\u001b]0;title\u0007\nlock \"job\" is free\u202e";

  static List<Object> carriers() {
    return List.of(
        new LockException(FOREIGN),
        new LockException(FOREIGN, new IllegalStateException()),
        new Holder(FOREIGN, Optional.empty(), Optional.empty()),
        new LockReport.NodeEntries("n", true, List.of(), OptionalLong.empty(), FOREIGN),
        LockReport.NodeEntries.silent("n", FOREIGN),
        new ClientHealth.Node(
            "n", ClientHealth.State.UNREACHABLE, Optional.empty(), FOREIGN, List.of(FOREIGN)),
        new NodeAnswer("n", NodeAnswer.Kind.FAILED, FOREIGN),
        new LockEvent.FleetsOverlap("n", "own", 3, FOREIGN, 3, FOREIGN),
        new LockEvent.NodeStateChanged("n", false, FOREIGN),
        new LockEvent.NodeWarned("n", FOREIGN));
  }

  @ParameterizedTest
  @MethodSource("carriers")
  void foreignTextIsOnOneLineAndActsOnNoTerminal(Object carrier) {
    assertThat(carrier.toString()).contains("is free");
    assertThat(carrier.toString().chars())
        .noneMatch(Character::isISOControl)
        .noneMatch(c -> c == 0x202e);
  }
}
