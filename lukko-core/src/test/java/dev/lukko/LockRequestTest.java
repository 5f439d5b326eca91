package dev.lukko;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A7: arguments are refused by field, value and rule, before anything is asked. */
class LockRequestTest {
  private static final Duration TTL = Duration.ofSeconds(1);

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S", "PT0.000999999S", "PT-0.000000001S"})
  void ttlBelowAMillisecondIsRefused(Duration ttl) {
    assertThatThrownBy(() -> LockRequest.of("r", ttl))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("ttl is " + ttl + "; it must be at least 1 ms");
  }

  @Test
  void ttlIsRoundedDownToWholeMilliseconds() {
    assertThat(LockRequest.of("r", Duration.ofNanos(1_999_999)).ttl())
        .isEqualTo(Duration.ofMillis(1));
    assertThat(LockRequest.of("r", LockRequest.FOREVER).ttl())
        .isEqualTo(Duration.ofMillis(Long.MAX_VALUE));
  }

  @Test
  void missingTtlIsRefused() {
    assertThatThrownBy(() -> LockRequest.of("r", null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("ttl is null; it must be a duration");
    assertThatThrownBy(() -> LockRequest.builder("r").build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("ttl is not set; every request needs one");
  }

  static Stream<Arguments> badNames() {
    return Stream.of(
        Arguments.of(null, "resource is null; it must be a text"),
        Arguments.of("", "resource \"\" has 0 characters; it must have 1 to 255"),
        Arguments.of(
            "x".repeat(256),
            "resource \"" + "x".repeat(40) + "...\" has 256 characters; it must have 1 to 255"),
        Arguments.of(
            "a\nb",
            "resource \"a\\u000ab\" has a control character (code 10) at index 1; control"
                + " characters are not allowed"),
        Arguments.of(
            "\u0000",
            "resource \"\\u0000\" has a control character (code 0) at index 0; control characters"
                + " are not allowed"),
        Arguments.of(
            "a\u007f",
            "resource \"a\\u007f\" has a control character (code 127) at index 1; control"
                + " characters are not allowed"));
  }

  @ParameterizedTest
  @MethodSource("badNames")
  void badNameIsRefused(String name, String message) {
    List<String> names = new ArrayList<>(List.of("good"));
    names.add(name);
    assertThatThrownBy(() -> LockRequest.builder(names))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
    assertThatThrownBy(() -> LockRequest.of(name, TTL))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @ParameterizedTest
  @ValueSource(chars = {'\ud800', '\udc00'})
  void halfASurrogatePairIsRefused(char half) {
    assertThatThrownBy(() -> LockRequest.of("a" + half, TTL))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("half a surrogate pair");
  }

  @Test
  void longestAndStrangestNamesAreTaken() {
    for (String name : List.of("x".repeat(255), " ", "ä", "\ud83d\udd12", "{a}:b#1", "'; --")) {
      assertThat(LockRequest.of(name, TTL).resources()).containsExactly(name);
    }
  }

  @Test
  void namesAreSortedAndDuplicatesFolded() {
    LockRequest request = LockRequest.builder("b", "a", "b", "a", "A").ttl(TTL).build();
    assertThat(request.resources()).containsExactly("A", "a", "b");
    assertThatThrownBy(() -> request.resources().add("c"))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void numberOfNamesIsLimitedAfterFolding() {
    assertThatThrownBy(() -> LockRequest.builder())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("resources has 0 names; it must have 1 to 64");
    assertThatThrownBy(() -> LockRequest.builder(List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("resources has 0 names; it must have 1 to 64");
    List<String> many = IntStream.range(0, 65).mapToObj(i -> "r" + i).toList();
    assertThatThrownBy(() -> LockRequest.builder(many))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("resources has 65 names; it must have 1 to 64");
    List<String> folded = new ArrayList<>(many.subList(0, 64));
    folded.addAll(many.subList(0, 64));
    assertThat(LockRequest.builder(folded).ttl(TTL).build().resources()).hasSize(64);
    assertThat(LockRequest.builder(Collections.nCopies(1_000, "r")).ttl(TTL).build().resources())
        .containsExactly("r");
  }

  @Test
  void callersListMayChangeAfterwards() {
    List<String> names = new ArrayList<>(Arrays.asList("a", "b"));
    LockRequest.Builder builder = LockRequest.builder(names);
    names.clear();
    assertThat(builder.ttl(TTL).build().resources()).containsExactly("a", "b");
  }

  @Test
  void waitMustNotBeNegative() {
    assertThatThrownBy(() -> LockRequest.builder("r").maxWait(Duration.ofNanos(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxWait is PT-0.000000001S; it must not be negative");
    assertThatThrownBy(() -> LockRequest.builder("r").maxWait(null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxWait is null; it must be a duration");
    assertThat(LockRequest.of("r", TTL).maxWait()).isEmpty();
    assertThat(LockRequest.builder("r").ttl(TTL).maxWait(Duration.ZERO).build().maxWait())
        .hasValue(Duration.ZERO);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S"})
  void longestHoldMustBePositive(Duration maxHold) {
    assertThatThrownBy(() -> LockRequest.builder("r").maxHold(maxHold))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxHold is " + maxHold + "; it must be positive");
  }

  @Test
  void metadataIsLimited() {
    assertThatThrownBy(() -> LockRequest.builder("r").metadata("x".repeat(101)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("metadata")
        .hasMessageContaining("has 101 characters; it must have 0 to 100");
    assertThatThrownBy(() -> LockRequest.builder("r").metadata("a\tb"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("metadata \"a\\u0009b\" has a control character (code 9)");
    assertThat(LockRequest.builder("r").ttl(TTL).metadata("").build().metadata()).isEmpty();
  }

  @Test
  void builderThatGoesOnDoesNotChangeWhatItBuilt() {
    LockRequest.Builder builder = LockRequest.builder("r").ttl(TTL);
    LockRequest first = builder.build();
    LockRequest second = builder.ttl(TTL.multipliedBy(2)).shared(true).fair(true).build();
    assertThat(first.ttl()).isEqualTo(TTL);
    assertThat(first.shared() || first.fair()).isFalse();
    assertThat(second.shared() && second.fair()).isTrue();
  }

  @Test
  void defaultsFillOnlyWhatIsNotSet() {
    LockRequest plain =
        LockRequest.builder("r")
            .ttl(TTL)
            .metadata("m")
            .maxHold(Duration.ofDays(1))
            .waitForQuorum(true)
            .interruptOnLoss(true)
            .build();
    LockRequest filled = plain.withDefaultWait(Duration.ZERO).withDefaultAutoExtend(true);
    assertThat(filled.maxWait()).hasValue(Duration.ZERO);
    assertThat(filled.autoExtend()).isTrue();
    assertThat(filled.metadata()).isEqualTo("m");
    assertThat(filled.maxHold()).hasValue(Duration.ofDays(1));
    assertThat(filled.waitForQuorum() && filled.interruptOnLoss()).isTrue();
    assertThat(filled.resources()).isEqualTo(plain.resources());
    assertThat(plain.maxWait()).isEmpty();
    LockRequest set = LockRequest.builder("r").ttl(TTL).maxWait(TTL).autoExtend(false).build();
    assertThat(set.withDefaultWait(Duration.ZERO).withDefaultAutoExtend(true)).isSameAs(set);
  }
}
