package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.spi.Capability;
import java.net.ServerSocket;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.mariadb.jdbc.MariaDbDataSource;

class JdbcNodeBuilderTest {
  private final TestDatabase database = Databases.h2();

  @Test
  void badSettings_areRefusedWithNameValueAndRule() {
    JdbcNodeBuilder builder = database.node();
    assertThatThrownBy(() -> builder.name("")).hasMessageContaining("name");
    assertThatThrownBy(() -> builder.maxConnections(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxConnections is 0; it must be between 1 and 64");
    assertThatThrownBy(() -> builder.queueCapacity(-1)).hasMessageContaining("queueCapacity is -1");
    assertThatThrownBy(() -> builder.requestTimeout(Duration.ZERO))
        .hasMessageContaining("requestTimeout is PT0S");
    assertThatThrownBy(() -> builder.idleTimeout(Duration.ofMillis(5)))
        .hasMessageContaining("idleTimeout is PT0.005S");
    assertThatThrownBy(() -> builder.counterRetention(Duration.ofDays(-1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void whatIsNoJdbcUrl_isRefused_withoutShowingIt() {
    assertThatThrownBy(() -> JdbcNode.builder("postgres://u:secret@db/x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("jdbc:")
        .hasMessageNotContaining("secret");
  }

  @Test
  void nodeWithoutAName_isCalledByItsAddress_withoutSecrets() {
    assertThat(Addresses.of("jdbc:postgresql://db:5432/x?user=u&password=s", 1))
        .isEqualTo("postgresql://db:5432/x");
    assertThat(Addresses.of("jdbc:mysql://u:s@db:3306/x", 1)).isEqualTo("mysql://db:3306/x");
    assertThat(Addresses.of("jdbc:h2:mem:x;USER=sa;PASSWORD=s", 1)).isEqualTo("h2:mem:x");
    assertThat(Addresses.of("jdbc:mysql://(host=db,password=s)/x", 4)).isEqualTo("jdbc-4");
    assertThat(Addresses.of(null, 5)).isEqualTo("jdbc-5");
    try (JdbcNode node = JdbcNode.over(database.source())) {
      assertThat(node.name()).startsWith("h2:mem:lukko");
    }
  }

  @Test
  void nodeWhoseDatabaseIsDown_isCalledByItsAddress_too() throws Exception {
    String url;
    try (ServerSocket nobody = new ServerSocket(0)) {
      url = "jdbc:postgresql://127.0.0.1:" + nobody.getLocalPort() + "/x?user=u&password=s";
    }
    DataSource source = new MariaDbDataSource(url.replace("postgresql", "mariadb"));
    try (JdbcNode own = JdbcNode.connect(url);
        JdbcNode over = JdbcNode.over(source)) {
      assertThat(own.name()).startsWith("postgresql://127.0.0.1:").endsWith("/x");
      assertThat(over.name()).startsWith("mariadb://127.0.0.1:").endsWith("/x");
    }
  }

  @Test
  void onlyPostgres_givesHints() {
    try (JdbcNode h2 = JdbcNode.over(database.source());
        JdbcNode postgres = JdbcNode.over(Databases.postgres().source());
        JdbcNode quiet = Databases.postgres().node().notifications(false).build()) {
      assertThat(h2.capabilities()).containsExactly(Capability.SHARED);
      assertThat(postgres.capabilities())
          .containsExactlyInAnyOrder(Capability.SHARED, Capability.WATCH);
      assertThat(quiet.capabilities()).containsExactly(Capability.SHARED);
      h2.watch("r", () -> {}).close();
      quiet.watch("r", () -> {}).close();
    }
  }
}
