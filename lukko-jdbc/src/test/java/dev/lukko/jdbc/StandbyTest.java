package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.redlock.Redlock;
import dev.lukko.spi.NodeStatus;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real hot standby: the data of a primary that was shut down, with {@code standby.signal}. */
class StandbyTest {

  @Test
  void hotStandbyDoesNotVoteAndTheErrorSaysWhy(@TempDir Path directory) throws Exception {
    Path data = directory.resolve("data");
    try (EmbeddedPostgres primary = start(data)) {
      JdbcSchema.create(primary.getPostgresDatabase());
    }
    Files.createFile(data.resolve("standby.signal"));
    try (EmbeddedPostgres standby = start(data)) {
      try (JdbcNode node = JdbcNode.over(standby.getPostgresDatabase())) {
        NodeStatus status = node.status().toCompletableFuture().get();
        assertThat(status.state()).isEqualTo(NodeStatus.State.UNFIT);
        assertThat(status.detail()).contains("replica");
      }
      assertThatThrownBy(
              () -> {
                try (JdbcNode node = JdbcNode.over(standby.getPostgresDatabase());
                    Redlock locks = Redlock.over(node)) {
                  locks.acquire("a", Duration.ofSeconds(30));
                }
              })
          .hasMessageContaining("replica");
    }
  }

  private static EmbeddedPostgres start(Path data) throws IOException {
    return EmbeddedPostgres.builder().setDataDirectory(data).setCleanDataDirectory(false).start();
  }
}
