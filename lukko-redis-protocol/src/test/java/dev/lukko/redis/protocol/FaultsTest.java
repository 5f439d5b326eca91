package dev.lukko.redis.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which attempts to connect were refused, and which ran out of time. */
class FaultsTest {

  static Stream<Exception> outOfTime() {
    return Stream.of(
        new ConnectException("connection timed out after 1000 ms"),
        new SocketTimeoutException("connect"),
        new ClosedChannelException(), // closed by the driver, in the middle of its handshake
        new CompletionException(new ClosedChannelException()));
  }

  @ParameterizedTest
  @MethodSource("outOfTime")
  void attemptThatRanOutOfTimeTellsNothingOfTheNextOne(Exception error) {
    assertThat(Faults.ofConnecting(error).isPassing()).isTrue();
  }

  static Stream<Exception> refused() {
    return Stream.of(
        new ConnectException("Connection refused"),
        new java.net.UnknownHostException("nowhere"),
        new javax.net.ssl.SSLHandshakeException("not trusted"),
        new ServerErrorException("WRONGPASS invalid username-password pair"));
  }

  @ParameterizedTest
  @MethodSource("refused")
  void attemptThatWasRefusedIsARefusal(Exception error) {
    assertThat(Faults.ofConnecting(error).isPassing()).isFalse();
  }
}
