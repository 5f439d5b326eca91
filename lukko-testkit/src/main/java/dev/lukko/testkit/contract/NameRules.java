package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockRequest;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Owners and names are compared character by character, whatever they consist of. */
interface NameRules extends ContractRules {

  /** Texts that are almost the given one: sloppy comparisons take them for the same. */
  private static List<String> almost(String text) {
    return List.of(
        text.substring(0, text.length() - 1),
        text + "x",
        text.toUpperCase(java.util.Locale.ROOT),
        text + " ",
        " " + text,
        text + "\u00a0",
        text.replace("o", "\u00f6"),
        text.replace("o", "o\u0308"),
        text.replace("o", "\u043e"),
        text.replace("o", "%"),
        text.replace("o", "_"));
  }

  @Test
  default void shouldCompareOwnersExactly() {
    String owner = fresh("foobar");
    String resource = fresh("r");
    LockEntry entry = exclusive(owner, resource);
    Ask.granted(node(), entry, 500);
    for (String other : almost(owner)) {
      LockEntry others = exclusive(other, resource);
      assertThat(Ask.refused(node(), others, 900).counter()).as(other).isEqualTo(500);
      assertThat(Ask.confirm(node(), others, 900)).as(other).isEqualTo(new ConfirmReply.NotHeld());
      assertThat(Ask.extend(node(), others)).as(other).isInstanceOf(ExtendReply.HeldByOther.class);
      assertThat(Ask.repair(node(), others, 900))
          .as(other)
          .isInstanceOf(ExtendReply.HeldByOther.class);
      assertThat(Ask.release(node(), others)).as(other).isEqualTo(new ReleaseReply.NotHeld());
    }
    assertThat(Ask.grant(node(), entry, 900)).isEqualTo(new Granted(500));
  }

  @Test
  default void shouldCompareNamesExactly() {
    String name = fresh("foobar");
    LockEntry held = exclusive(fresh("owner"), name);
    Ask.granted(node(), held, 500);
    long proposal = 1;
    for (String other : almost(name)) {
      assertThat(Ask.granted(node(), exclusive(fresh("owner"), other), proposal))
          .as(other)
          .isEqualTo(proposal);
      proposal++;
    }
    assertThat(Ask.grant(node(), held, 900)).isEqualTo(new Granted(500));
  }

  @Test
  default void shouldStoreTheLongestAndTheStrangestTexts() {
    int max = LockRequest.MAX_NAME_LENGTH;
    String fresh = fresh("r");
    long proposal = 1;
    for (String text :
        List.of(
            longest("x", max, fresh),
            longest("\u6f22", max, fresh),
            longest("\ud83d\udd12", max, fresh),
            "\ud83d\udd12 \u00e4 \u65e5\u672c " + fresh,
            "';--\"`\\%_$1?:name{now}" + fresh,
            "}" + fresh,
            "{}" + fresh,
            fresh + "}b",
            "\\}" + fresh,
            "{" + fresh + "}:token",
            fresh + ":token",
            "*[a-z]?" + fresh,
            "../" + fresh + "/\u202e")) {
      LockEntry entry = exclusive(text, text);
      assertThat(Ask.grant(node(), entry, proposal)).as(text).isEqualTo(new Granted(proposal));
      assertThat(Ask.grant(node(), entry, 99)).as(text).isEqualTo(new Granted(proposal));
      assertThat(Ask.refused(node(), exclusive(fresh("other"), text), 99).counter())
          .as(text)
          .isEqualTo(proposal);
      assertThat(Ask.extend(node(), entry)).as(text).isEqualTo(new ExtendReply.Extended());
      assertThat(Ask.counter(node(), text)).as(text).isEqualTo(proposal);
      Ask.released(node(), entry);
      proposal++;
    }
  }

  /** A name of the greatest length: so many UTF-16 units, whatever they take in the store. */
  private static String longest(String character, int length, String end) {
    int room = length - end.length();
    String start = character.repeat(room / character.length());
    return start + "y".repeat(room - start.length()) + end;
  }
}
