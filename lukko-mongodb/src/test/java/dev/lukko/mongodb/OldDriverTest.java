package dev.lukko.mongodb;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** With a driver that cannot bound a request as a whole. */
@Tag("old-drivers")
class OldDriverTest {

  @Test
  void driverThatIsTooOldIsRefusedBeforeItIsUsed() {
    String url = "mongodb://127.0.0.1:1/lukko";
    assertThatIllegalStateException()
        .isThrownBy(() -> MongoNode.connect(url))
        .withMessageContainingAll("mongodb-driver-sync", "5.2 or later");
    try (MongoClient client = MongoClients.create(url)) {
      assertThatIllegalStateException().isThrownBy(() -> MongoNode.over(client));
      assertThatIllegalStateException()
          .isThrownBy(() -> MongoFence.over(client.getDatabase("lukko")));
      assertThatIllegalStateException()
          .isThrownBy(() -> MongoIdempotencyKeys.over(client.getDatabase("lukko")));
    }
  }
}
