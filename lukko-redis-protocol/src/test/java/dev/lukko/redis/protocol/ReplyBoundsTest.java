package dev.lukko.redis.protocol;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplyBoundsTest {

  private static void read(String text, int step) throws IOException {
    ReplyBounds bounds = new ReplyBounds();
    byte[] bytes = text.replace(" ", "\r\n").getBytes(StandardCharsets.UTF_8);
    for (int from = 0; from < bytes.length; from += step) {
      bounds.read(bytes, from, Math.min(step, bytes.length - from));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "*100000000 ",
        "*2147483647 ",
        "*99999999999999999999 ",
        "$2147483647 ",
        "%100000000 ",
        "~100000000 ",
        ">100000000 ",
        "|100000000 ",
        "=100000000 ",
        "!100000000 ",
        "*1 *1 *1 *1 *1 *1 *1 *1 *1 ",
        "+OK *2 :1 *100000000 ",
        "$3 *99 *100000000 ",
        "*many ",
      })
  void replyThatAnnouncesTooMuchIsRefusedHoweverItIsCut(String reply) {
    for (int step : new int[] {1, 2, 3, 1_000}) {
      assertThatExceptionOfType(IOException.class).isThrownBy(() -> read(reply, step));
    }
  }

  @Test
  void listsOfOneReplyThatAreTooMuchTogetherAreRefused() {
    String reply = "*2 *100000 " + ":1 ".repeat(100_000);
    assertThatCode(() -> read(reply, 1_000)).doesNotThrowAnyException();
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> read(reply + "*100000 ", 1_000));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "+OK ",
        "-ERR_*100000000 ",
        ":1 ",
        "$-1 ",
        "*-1 ",
        "*0 ",
        "_ ",
        "#t ",
        ",1.5 ",
        "$10 *100000000 *1 :1 ",
        "*6 :0 :0 :1 $9 exclusive $3 abc :1000 ",
        "%2 +a :1 +b *0 >3 +message $1 c $1 m |1 +ttl :1 +OK ",
      })
  void replyToALocksRequestIsReadHoweverItIsCutAndAgain(String reply) {
    for (int step : new int[] {1, 2, 3, 1_000}) {
      assertThatCode(() -> read(reply.repeat(100_000 / reply.length()), step))
          .doesNotThrowAnyException();
    }
  }
}
