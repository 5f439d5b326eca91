package dev.lukko.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockEvent;
import dev.lukko.LockListener;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.ApplicationContext;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Where the locks of an application are held. */
class LockClientConfigurationTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static RedisServer first;
  private static RedisServer second;
  private static RedisServer third;

  @BeforeAll
  static void start() {
    first = RedisServer.start();
    second = RedisServer.start();
    third = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    first.close();
    second.close();
    third.close();
  }

  @BeforeEach
  void empty() {
    for (RedisServer server : List.of(first, second, third)) {
      server.command("FLUSHALL");
    }
  }

  private static boolean has(RedisServer server, String key) {
    return Long.valueOf(1).equals(server.command("EXISTS", key));
  }

  private static Lease acquire(ApplicationContext context) {
    return context.getBean(LockClient.class).acquire("x", TTL);
  }

  @Test
  void nodesOfTheConfigurationAreAQuorum() {
    String nodes = String.join(",", first.url(), second.url(), third.url());
    try (LogLines log = new LogLines()) {
      Applications.withRedis()
          .withPropertyValues("lukko.nodes=" + nodes)
          .run(
              context -> {
                try (Lease held = acquire(context)) {
                  for (RedisServer server : List.of(first, second, third)) {
                    assertThat(has(server, "lukko:{x}")).isTrue();
                  }
                }
              });
      assertThat(log.lines())
          .singleElement()
          .asString()
          .startsWith("INFO locks are held by lukko.nodes: [")
          .contains(String.valueOf(second.port()));
    }
  }

  @Test
  void keysAreNamedAsTheConfigurationSays() {
    Applications.plain()
        .withPropertyValues("lukko.nodes=" + first.url(), "lukko.key-format=plain")
        .run(
            context -> {
              try (Lease held = acquire(context)) {
                assertThat(has(first, "x")).isTrue();
              }
            });
  }

  @Test
  void redisIsReachedThroughJedisWhereLettuceIsNot() {
    Applications.plain()
        .withClassLoader(new FilteredClassLoader("dev.lukko.redis.RedisNode"))
        .withPropertyValues("lukko.nodes=" + first.url())
        .run(
            context -> {
              try (Lease held = acquire(context)) {
                assertThat(has(first, "lukko:{x}")).isTrue();
              }
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"lettuce", "jedis"})
  void redisOfTheApplicationIsUsedWithItsLoginAndDatabase(String client) {
    try (RedisServer server = RedisServer.builder().password("secret").start();
        LogLines log = new LogLines()) {
      Applications.withRedis()
          .withPropertyValues(
              "spring.data.redis.client-type=" + client,
              "spring.data.redis.port=" + server.port(),
              "spring.data.redis.password=secret",
              "spring.data.redis.database=3")
          .run(
              context -> {
                try (Lease held = acquire(context)) {
                  assertThat(server.commandWithPassword("secret", "INFO", "keyspace"))
                      .asString()
                      .contains("db3:");
                }
              });
      assertThat(log.lines())
          .containsExactly("INFO locks are held by the application's Redis connection");
    }
  }

  @Test
  void databaseOfTheApplicationIsUsedWithConnectionsOfItsOwn() {
    try (LogLines log = new LogLines()) {
      Applications.withDataSource()
          .withPropertyValues(
              "lukko.create-schema=true", "spring.datasource.hikari.maximum-pool-size=1")
          .run(
              context -> {
                DataSource pool = context.getBean(DataSource.class);
                try (var used = pool.getConnection(); // The only one.
                    Lease held = acquire(context)) {
                  assertThat(held.isValid()).isTrue();
                  assertThat(
                          new JdbcTemplate(new SingleConnectionDataSource(used, true))
                              .queryForList("SELECT COUNT(*) FROM lukko_lock", Integer.class))
                      .containsExactly(1);
                }
              });
      assertThat(log.lines())
          .containsExactly("INFO locks are held by the application's data source");
    }
  }

  @Test
  void redisGoesBeforeTheDatabase() {
    Applications.withBoth()
        .withPropertyValues("spring.data.redis.port=" + first.port())
        .run(
            context -> {
              try (Lease held = acquire(context)) {
                assertThat(has(first, "lukko:{x}")).isTrue();
              }
            });
  }

  @Test
  void withoutAnyStoreLocksAreInMemoryWithAWarning() {
    try (LogLines log = new LogLines()) {
      Applications.plain()
          .run(
              context -> {
                try (Lease held = acquire(context)) {
                  assertThat(held.isValid()).isTrue();
                }
              });
      assertThat(log.lines())
          .singleElement()
          .asString()
          .startsWith("WARNING locks are held in the memory of this process");
    }
  }

  @Test
  void clientOfTheApplicationsOwnTakesThePlaceOfAnyOther() {
    LockClient own = Redlock.over(new InMemoryNode());
    Applications.plain()
        .withPropertyValues("lukko.nodes=nonsense")
        .withBean("own", LockClient.class, () -> own)
        .run(context -> assertThat(context.getBean(LockClient.class)).isSameAs(own));
  }

  @Test
  void listenersAndCustomizersOfTheApplicationAreUsed() {
    List<LockEvent> events = new CopyOnWriteArrayList<>();
    Applications.plain()
        .withBean(LockListener.class, () -> events::add)
        .withBean(LockClientCustomizer.class, () -> builder -> builder.description("billing"))
        .run(
            context -> {
              try (Lease held = acquire(context)) {
                assertThat(held.owner()).contains("billing");
              }
            });
    await().until(() -> !events.isEmpty());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lukko.ttl=2ms|lukko.ttl must be above 3 ms, which is its drift, and at most lukko.max-ttl"
            + " of 300000 ms; it was 2 ms",
        "lukko.ttl=6m|lukko.ttl must be above 3602 ms, which is its drift, and at most"
            + " lukko.max-ttl of 300000 ms; it was 360000 ms",
        "lukko.drift-factor=2|lukko.drift-factor is 2.0: driftFactor is 2.0; it must be at least 0"
            + " and less than 1",
        "lukko.fleet=a b|lukko.fleet is \"a b\": ",
        "lukko.nodes=http://user:secret@host|lukko.nodes[0] is no address of a node",
        "lukko.nodes=redis://:secret@host:99999|lukko.nodes is refused: "
      })
  void settingsThatCannotBeRightAreExplained(String property, String description) {
    Applications.plain()
        .withPropertyValues(property)
        .run(
            context -> {
              FailureAnalysis analysis = analysis(context.getStartupFailure());
              assertThat(analysis.getDescription()).startsWith(description);
              assertThat(analysis.getDescription()).doesNotContain("secret");
              assertThat(analysis.getAction()).contains("lukko.");
            });
  }

  /** A database that does not answer in time is no reason not to start, so it is asked again. */
  @Test
  void databaseWithoutTablesIsExplained() {
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                Applications.withDataSource()
                    .run(
                        context -> {
                          FailureAnalysis analysis = analysis(context.getStartupFailure());
                          assertThat(analysis.getDescription())
                              .contains("the lock's tables are missing");
                          assertThat(analysis.getAction()).contains("lukko.create-schema=true");
                        }));
  }

  private static FailureAnalysis analysis(Throwable failure) {
    FailureAnalysis analysis = new UnusableSettingsAnalyzer().analyze(failure);
    assertThat(analysis).as("analysis of %s", failure).isNotNull();
    return analysis;
  }

  @Test
  void analyzerIsFoundBySpringBoot() {
    assertThat(
            SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, (type, name, failure) -> {}))
        .hasAtLeastOneElementOfType(UnusableSettingsAnalyzer.class);
  }

  @Test
  void propertiesAreDescribedForEditors() throws Exception {
    try (var metadata =
        LukkoProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
      assertThat(new String(metadata.readAllBytes(), StandardCharsets.UTF_8))
          .contains("\"lukko.nodes\"", "\"lukko.self-invocation\"", "How keys are named on Redis")
          .contains("\"defaultValue\": \"30s\"");
    }
  }
}
