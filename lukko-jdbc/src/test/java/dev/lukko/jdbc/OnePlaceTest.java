package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.time.Ticker;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** All connections of a node lead to the tables to which the first one led. */
class OnePlaceTest {
  private static final InheritableThreadLocal<DataSource> TENANT = new InheritableThreadLocal<>();

  private static DataSource routing(Supplier<DataSource> route) {
    return new AbstractDataSource() {
      @Override
      public Connection getConnection() throws SQLException {
        return route.get().getConnection();
      }

      @Override
      public Connection getConnection(String user, String password) throws SQLException {
        return getConnection();
      }
    };
  }

  private static Sessions sessions(DataSource source) {
    JdbcSettings settings =
        new JdbcSettings("n", null, 4, 100, 5_000, 30_000, 60_000, false, false);
    return new Sessions(source, settings, Ticker.system(), Runnable::run);
  }

  @ParameterizedTest
  @EnumSource
  void oneHolderAtATime_thoughTheSourceChoosesTheDatabaseByAnInheritableThreadLocal(Dialect dialect)
      throws Exception {
    DataSource one = Databases.of(dialect).source();
    DataSource other = Databases.of(dialect).source();
    DataSource source = routing(() -> TENANT.get() == null ? one : TENANT.get());
    try (JdbcNode node =
        JdbcNode.builder(source)
            .name("n")
            .maxConnections(4)
            .requestTimeout(Duration.ofSeconds(30))
            .build()) {
      List<CompletionStage<GrantReply>> replies = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        TENANT.set(i % 2 == 0 ? other : one);
        replies.add(node.grant(new GrantRequest(entry("owner" + i, "r"), 60_000, 1)));
      }
      assertThat(replies.stream().filter(reply -> now(reply) instanceof Granted)).hasSize(1);
    } finally {
      TENANT.remove();
    }
  }

  @ParameterizedTest
  @EnumSource
  void oneHolderAtATime_thoughEveryConnectionLeadsToAnotherDatabase(Dialect dialect) {
    List<DataSource> both = List.of(Databases.of(dialect).source(), Databases.of(dialect).source());
    AtomicInteger opened = new AtomicInteger();
    DataSource source = routing(() -> both.get(opened.getAndIncrement() % 2));
    try (JdbcNode node =
        JdbcNode.builder(source)
            .name("n")
            .maxConnections(4)
            .requestTimeout(Duration.ofSeconds(30))
            .build()) {
      List<CompletionStage<GrantReply>> replies = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        replies.add(node.grant(new GrantRequest(entry("owner" + i, "r"), 60_000, 1)));
      }
      assertThat(replies.stream().filter(reply -> now(reply) instanceof Granted))
          .hasSizeLessThanOrEqualTo(1);
      for (CompletionStage<GrantReply> reply : replies) {
        if (now(reply) instanceof Failed failed) {
          assertThat(failed.detail()).contains("leads to", "the first one of the node");
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void connectionToAnotherDatabaseIsRefused_namingBoth(Dialect dialect) throws Exception {
    List<DataSource> route =
        new ArrayList<>(List.of(Databases.of(dialect).source(), Databases.of(dialect).source()));
    Sessions sessions = sessions(routing(() -> route.get(0)));
    Session first = sessions.take(1_000_000_000L);
    route.remove(0);
    assertThatThrownBy(() -> sessions.take(1_000_000_000L))
        .isInstanceOf(SQLException.class)
        .hasMessageContainingAll("this connection leads to", "the first one of the node led to");
    assertThatThrownBy(sessions::dedicated).hasMessageContaining("this connection leads to");
    sessions.giveBack(first);
    sessions.close();
  }

  @ParameterizedTest
  @EnumSource
  void connectionToADatabaseWithoutTablesIsRefused_andNoneAreCreatedThere(Dialect dialect)
      throws Exception {
    DataSource empty = EmptyDatabases.create(dialect);
    List<DataSource> route = new ArrayList<>(List.of(Databases.of(dialect).source(), empty));
    JdbcSettings creating = new JdbcSettings("n", null, 4, 100, 5_000, 30_000, 60_000, true, false);
    Sessions sessions =
        new Sessions(routing(() -> route.get(0)), creating, Ticker.system(), Runnable::run);
    Session first = sessions.take(1_000_000_000L);
    route.remove(0);
    assertThatThrownBy(() -> sessions.take(1_000_000_000L))
        .hasMessageContainingAll("tables are missing", "the first one of the node led to");
    try (Connection connection = empty.getConnection()) {
      assertThatThrownBy(() -> JdbcSchema.check(connection, dialect))
          .isInstanceOf(SchemaException.class);
    }
    sessions.giveBack(first);
    sessions.close();
  }

  @Test
  void copyOfTheTablesInAnotherDatabaseOrSchemaIsAnotherPlace() throws Exception {
    TestDatabase original = Databases.postgres();
    String identity = "UPDATE lukko_schema SET identity = 'copied'";
    original.execute(identity);
    TestDatabase copy = Databases.postgres();
    copy.execute(identity);
    String url = EmptyDatabases.urlOf(original.source());
    original.execute("CREATE SCHEMA tenant");
    DataSource inSchema =
        EmptyDatabases.at(url + (url.contains("?") ? "&" : "?") + "currentSchema=tenant");
    JdbcSchema.create(inSchema);
    new TestDatabase(Dialect.POSTGRES, inSchema).execute(identity);
    for (DataSource elsewhere : List.of(copy.source(), inSchema)) {
      List<DataSource> route = new ArrayList<>(List.of(original.source(), elsewhere));
      Sessions sessions = sessions(routing(() -> route.get(0)));
      Session first = sessions.take(1_000_000_000L);
      route.remove(0);
      assertThatThrownBy(() -> sessions.take(1_000_000_000L))
          .hasMessageContainingAll("this connection leads to", "schema");
      sessions.giveBack(first);
      sessions.close();
    }
  }

  @Test
  void copyOfTheTablesOnAnotherServer_isTakenOnlyWhenNoConnectionToTheFormerOneIsLeft()
      throws Exception {
    try (EmbeddedPostgres one = EmbeddedPostgres.start();
        EmbeddedPostgres other = EmbeddedPostgres.start()) {
      for (EmbeddedPostgres server : List.of(one, other)) {
        TestDatabase.create(Dialect.POSTGRES, server.getPostgresDatabase())
            .execute("UPDATE lukko_schema SET identity = 'copied'");
      }
      AtomicReference<EmbeddedPostgres> route = new AtomicReference<>(one);
      Sessions sessions = sessions(routing(() -> route.get().getPostgresDatabase()));
      Session first = sessions.take(1_000_000_000L);
      sessions.giveBack(sessions.take(1_000_000_000L));
      route.set(other);
      Session idle = sessions.take(1_000_000_000L);
      assertThatThrownBy(() -> sessions.take(1_000_000_000L)).hasMessageContaining("server");
      sessions.discard(first);
      assertThatThrownBy(() -> sessions.take(1_000_000_000L)).hasMessageContaining("server");
      sessions.discard(idle);
      Session moved = sessions.take(1_000_000_000L);
      Session second = sessions.take(1_000_000_000L);
      route.set(one);
      assertThatThrownBy(() -> sessions.take(1_000_000_000L)).hasMessageContaining("server");
      sessions.giveBack(moved);
      sessions.giveBack(second);
      sessions.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyConnectionToTheSameTablesIsTaken(Dialect dialect) throws Exception {
    Sessions sessions = sessions(Databases.of(dialect).source());
    Session first = sessions.take(1_000_000_000L);
    assertThatCode(() -> sessions.giveBack(sessions.take(1_000_000_000L)))
        .doesNotThrowAnyException();
    sessions.dedicated().close();
    sessions.giveBack(first);
    sessions.close();
  }
}
