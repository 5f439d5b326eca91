package dev.lukko.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lukko.spi.NodeStatus;
import dev.lukko.testkit.MalformedAddresses;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses, and that nothing shows the password in one. */
class MongoAddressTest {

  private static void assertHidden(Throwable failure) {
    StringWriter trace = new StringWriter();
    failure.printStackTrace(new PrintWriter(trace, true));
    assertThat(MalformedAddresses.isSeenIn(trace.toString())).as(trace.toString()).isFalse();
  }

  @Test
  void addressThatNobodyCanReadIsRefusedWithoutShowingItsPassword() {
    for (String each : MalformedAddresses.thousand()) {
      for (String url : List.of(each, each.replaceFirst("redis(?=:)", "mongodb"))) {
        Throwable refused = catchThrowable(() -> MongoAddress.of(url));
        if (refused != null) {
          assertThat(refused).isInstanceOf(IllegalArgumentException.class);
          assertHidden(refused);
        } else {
          String shown = MongoAddress.show(MongoAddress.of(url).getHosts(), "locks");
          assertThat(MalformedAddresses.isSeenIn(shown)).as(shown).isFalse();
        }
      }
    }
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "localhost:27017", "redis://host:1", "mongodb:/x", "mongodb://"})
  void whatIsNoAddressOfMongoDbIsRefused(String url) {
    assertThatThrownBy(() -> MongoNode.builder(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("mongodb://");
  }

  @Test
  void parametersThatDoNotFitTogetherAreRefusedWithoutThePassword() {
    Throwable refused =
        catchThrowable(
            () ->
                MongoNode.builder("mongodb://app:S3cretW0rd@127.0.0.1:1/?minPoolSize=50")
                    .maxConnections(2)
                    .build());
    assertThat(refused)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("url is mongodb://***@127.0.0.1:1/", "maxSize");
    assertHidden(refused);
  }

  @Test
  void nodesAreNamedByTheirHosts() {
    assertThat(
            MongoAddress.show(
                MongoAddress.of("mongodb://u:S3cretW0rd@b:2,a:1/x?replicaSet=r").getHosts(), "x"))
        .isEqualTo("mongodb://a:1,b:2/x");
    assertThat(MongoAddress.show(List.of("localhost"), "x")).isEqualTo("mongodb://localhost/x");
    assertThat(MongoAddress.show(List.of("S3cretW0rd"), "x")).isEqualTo("mongodb://.../x");
  }

  @Test
  void serverThatIsDownIsToldWithoutThePassword() {
    try (MongoNode node =
        MongoNode.builder("mongodb://app:S3cretW0rd@127.0.0.1:1/locks")
            .requestTimeout(Duration.ofMillis(200))
            .build()) {
      assertThat(node.name()).isEqualTo("mongodb://127.0.0.1:1/locks");
      NodeStatus status = Ask.now(node.status());
      assertThat(status.state()).isEqualTo(NodeStatus.State.UNREACHABLE);
      assertThat(MalformedAddresses.isSeenIn(status.toString())).isFalse();
      assertHidden(catchThrowable(() -> node.inspect("r").toCompletableFuture().join()));
    }
  }
}
