package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SecretsTest {

  @ParameterizedTest
  @CsvSource({
    "redis://:secret@host:1, redis://***@host:1",
    "redis://user:secret@host, redis://***@host",
    "redis://:sec@ret@host, redis://***@host",
    "redis://:sec/ret@host, redis://***@host",
  })
  void aPasswordIsHiddenInTextAndAlone(String url, String hidden) {
    assertThat(Secrets.hide("cannot reach " + url + " or '" + url + "'"))
        .isEqualTo("cannot reach " + hidden + " or '" + hidden + "'");
    assertThat(Secrets.hideInWord(url)).isEqualTo(hidden);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://:se cr'et@host",
        "redis://:secret\n@host",
        "redis:app:secret@host",
        ":secret@host:1",
        "user:secret@host",
        "redis:secret",
        "secret://host",
      })
  void aWordThatIsNoAddressButMayBeMeantForOneIsNotShown(String word) {
    assertThat(Secrets.hideInWord(word)).matches("(redis://)?\\.\\.\\.");
  }

  @Test
  void aTextWithoutPasswordsStays() {
    String text = "held by 4711@web-1/main since 2026-01-31T12:00:00Z; nodes: redis://host:1: free";

    assertThat(Secrets.hide(text)).isEqualTo(text);
    assertThat(Secrets.hideInWord("redis://host:1")).isEqualTo("redis://host:1");
    assertThat(Secrets.hideInWord("--tll")).isEqualTo("--tll");
  }
}
