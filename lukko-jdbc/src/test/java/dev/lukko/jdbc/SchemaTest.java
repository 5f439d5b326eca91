package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.ExtendReply.Extended;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.NodeStatus;
import dev.lukko.testkit.SoleFleet;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The tables: created on request, printed, and never guessed at. */
class SchemaTest {
  @TempDir Path directory;

  private DataSource empty(Dialect dialect) {
    return switch (dialect) {
      case POSTGRES -> Databases.postgresSource();
      case MYSQL -> Databases.mariaDbSource();
      case H2 -> DriverDataSource.of("jdbc:h2:" + directory.resolve("h2"));
      case SQLITE -> Databases.sqliteSource(directory.resolve("locks.db"));
    };
  }

  @ParameterizedTest
  @EnumSource
  void missingTables_areRefusedWithTheWayOut(Dialect dialect) {
    DataSource source = empty(dialect);
    assertThatThrownBy(() -> JdbcNode.over(source))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("missing")
        .hasMessageContaining("JdbcSchema.ddl(Dialect." + dialect + ")");
    await().untilAsserted(() -> assertThat(Threads.ofNodes()).isEmpty());
  }

  @ParameterizedTest
  @EnumSource
  void newerTables_areRefused(Dialect dialect) throws SQLException {
    DataSource source = empty(dialect);
    JdbcSchema.create(source);
    try (Connection connection = source.getConnection()) {
      DialectTraits.execute(connection, "UPDATE lukko_schema SET version = 7");
    }
    assertThatThrownBy(() -> JdbcNode.over(source))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("version 7")
        .hasMessageContaining("newer library");
    JdbcNodeBuilder creating = JdbcNode.builder(source).createSchema(true);
    assertThatThrownBy(creating::build).hasMessageContaining("version 7");
  }

  @ParameterizedTest
  @EnumSource
  void tablesOfVersion1_areRefusedWithTheWayOut_andUpgradedOnRequest(Dialect dialect)
      throws SQLException {
    DataSource source = empty(dialect);
    JdbcSchema.create(source);
    try (JdbcNode node = JdbcNode.over(source)) {
      now(node.grant(new GrantRequest(entry("a", "r"), 60_000, 7)));
    }
    try (Connection connection = source.getConnection()) {
      DialectTraits.execute(connection, "ALTER TABLE lukko_lock DROP COLUMN ttl");
      DialectTraits.execute(connection, "DROP TABLE lukko_fleet");
      DialectTraits.execute(connection, "UPDATE lukko_schema SET version = 1");
    }
    assertThatThrownBy(() -> JdbcNode.over(source))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("version 1", "upgrade");
    for (int i = 0; i < 2; i++) {
      JdbcSchema.create(source);
    }
    try (JdbcNode node = JdbcNode.over(source)) {
      assertThat(now(node.extend(entry("a", "r"), 60_000))).isEqualTo(new Extended());
      assertThat(now(node.grant(new GrantRequest(entry("a", "s"), 60_000, 8))))
          .isEqualTo(new Granted(8));
    }
  }

  @ParameterizedTest
  @EnumSource
  void tablesOfVersion2_areRefusedWithTheWayOut_andUpgradedByTheStatementsOfTheGuide(
      Dialect dialect) throws SQLException {
    DataSource source = empty(dialect);
    JdbcSchema.create(source);
    try (JdbcNode node = JdbcNode.over(source)) {
      now(node.grant(new GrantRequest(entry("a", "r"), 60_000, 7)));
    }
    try (Connection connection = source.getConnection()) {
      DialectTraits.execute(connection, "DROP TABLE lukko_fleet");
      DialectTraits.execute(connection, "UPDATE lukko_schema SET version = 2");
    }
    assertThatThrownBy(() -> JdbcNode.over(source))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("version 2", "upgrade", "JdbcSchema.ddl(Dialect." + dialect + ")")
        .hasMessageContaining(JdbcSchema.TO_THIS_VERSION);
    try (Connection connection = source.getConnection()) {
      for (String statement : JdbcSchema.ddl(dialect).split(";\n", 0)) {
        DialectTraits.execute(connection, statement);
      }
      DialectTraits.execute(connection, JdbcSchema.TO_THIS_VERSION);
    }
    try (JdbcNode node = JdbcNode.over(source)) {
      assertThat(now(node.extend(entry("a", "r"), 60_000))).isEqualTo(new Extended());
      assertThat(SoleFleet.admit(node).state()).isEqualTo(NodeStatus.State.VOTING);
    }
  }

  @ParameterizedTest
  @EnumSource
  void printedStatements_makeAWorkingNode_andCanBeRepeated(Dialect dialect) throws SQLException {
    DataSource source = empty(dialect);
    for (int i = 0; i < 2; i++) {
      try (Connection connection = source.getConnection()) {
        for (String statement : JdbcSchema.ddl(dialect).split(";\n", 0)) {
          DialectTraits.execute(connection, statement);
        }
      }
    }
    try (JdbcNode node = JdbcNode.over(source)) {
      assertThat(now(node.grant(new GrantRequest(entry("a", "r"), 60_000, 1))))
          .isEqualTo(new Granted(1));
    }
  }

  @ParameterizedTest
  @EnumSource
  void manyNodesThatCreateAtOnce_allWork(Dialect dialect) throws Exception {
    DataSource source = empty(dialect);
    // What keeps an embedded database open while the nodes come and go.
    try (Connection open = source.getConnection()) {
      assertThat(open.isValid(1)).isTrue();
      ExecutorService pool = Executors.newFixedThreadPool(6);
      try {
        List<Future<?>> nodes = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
          String name = "n" + i;
          nodes.add(
              pool.submit(
                  () -> {
                    JdbcNodeBuilder builder =
                        JdbcNode.builder(source)
                            .name(name)
                            .createSchema(true)
                            .requestTimeout(Duration.ofSeconds(30));
                    try (JdbcNode node = builder.build()) {
                      assertThat(now(node.grant(new GrantRequest(entry(name, name), 60_000, 1))))
                          .isEqualTo(new Granted(1));
                    }
                  }));
        }
        for (Future<?> node : nodes) {
          node.get(60, TimeUnit.SECONDS);
        }
      } finally {
        pool.shutdownNow();
      }
    }
  }

  @Test
  void unknownDatabase_isRefusedByName() throws SQLException {
    Connection strange =
        (Connection)
            java.lang.reflect.Proxy.newProxyInstance(
                SchemaTest.class.getClassLoader(),
                new Class<?>[] {Connection.class, java.sql.DatabaseMetaData.class},
                (self, method, arguments) ->
                    method.getName().equals("getMetaData") ? self : "Oracle");
    assertThatThrownBy(() -> Dialect.of(strange))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("Oracle")
        .hasMessageContaining("SQLite");
  }
}
