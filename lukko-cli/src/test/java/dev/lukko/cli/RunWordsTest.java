package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import org.junit.jupiter.api.Test;

class RunWordsTest {

  @Test
  void theCommandStandsBehindTheSeparator() {
    assertThat(RunWords.of(List.of("r", "--", "ls", "-l")))
        .isEqualTo(new RunWords("r", List.of("ls", "-l")));
  }

  @Test
  void theSeparatorMayBeLeftOutBeforeAPlainCommand() {
    assertThat(RunWords.of(List.of("r", "ls", "-l")))
        .isEqualTo(new RunWords("r", List.of("ls", "-l")));
  }

  @Test
  void aSeparatorOfTheCommandItselfIsKept() {
    assertThat(RunWords.of(List.of("r", "git", "checkout", "--", "file")).command())
        .containsExactly("git", "checkout", "--", "file");
    assertThat(RunWords.of(List.of("r", "--", "git", "checkout", "--", "file")).command())
        .containsExactly("git", "checkout", "--", "file");
  }

  @Test
  void aCommandMayBeginWithADashBehindTheSeparator() {
    assertThat(RunWords.of(List.of("r", "--", "-odd")).command()).containsExactly("-odd");
  }

  @Test
  void anOptionBehindTheResourceIsAmbiguousWithoutSeparator() {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> RunWords.of(List.of("r", "--wait", "5s", "ls")))
        .withMessageStartingWith("'--wait' after the resource 'r' is ambiguous");
  }
}
