package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.grant;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.RedisServers;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("own-process")
class RedisNodeLifecycleTest {

  @AfterEach
  void noThreadIsLeft() {
    await().untilAsserted(() -> assertThat(driverThreads()).isEmpty());
  }

  private static Set<String> driverThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(Thread::isAlive)
        .map(Thread::getName)
        .filter(
            name ->
                name.startsWith("lukko")
                    || name.startsWith("lettuce")
                    || name.startsWith("globalEventExecutor"))
        .collect(Collectors.toSet());
  }

  @Test
  void twoHundredCyclesLeaveNoThreadAndNoConnection() {
    try (RedisServer server = RedisServer.start()) {
      for (int i = 0; i < 200; i++) {
        try (RedisNode node = RedisNode.connect(server.url())) {
          granted(node, entry("a" + i, "r"), 1);
          release(node, entry("a" + i, "r"));
        }
      }
      assertThat(driverThreads()).noneMatch(name -> name.startsWith("lukko"));
      await()
          .untilAsserted(
              () ->
                  assertThat(String.valueOf(server.command("CLIENT", "LIST")).lines()).hasSize(1));
    }
  }

  @Test
  void nodesOfAProcessShareThreadsUntilTheLastIsClosed() {
    try (RedisServers servers = RedisServers.start(5)) {
      List<RedisNode> nodes = RedisNode.connectAll(servers.urls().toArray(String[]::new));
      assertThat(nodes).extracting(RedisNode::name).doesNotHaveDuplicates();
      nodes.forEach(node -> granted(node, entry("a", "r"), 1));
      assertThat(driverThreads()).hasSizeLessThanOrEqualTo(6);
      nodes.subList(0, 4).forEach(RedisNode::close);
      granted(nodes.get(4), entry("a", "r2"), 1);
      assertThat(
              Thread.getAllStackTraces().keySet().stream()
                  .filter(thread -> thread.getName().startsWith("lukko")))
          .isNotEmpty()
          .allMatch(Thread::isDaemon);
      nodes.get(4).close();
    }
  }

  @Test
  void clientNameIsSet() {
    try (RedisServer server = RedisServer.start();
        RedisNode node = RedisNode.connect(server.url())) {
      granted(node, entry("a", "r"), 1);
      assertThat(String.valueOf(server.command("CLIENT", "LIST"))).contains(" name=lukko ");
    }
  }

  @Test
  void databaseOfTheUrlIsUsed() {
    try (RedisServer server = RedisServer.start();
        RedisNode node = RedisNode.connect(server.url() + "/3")) {
      granted(node, entry("a", "r"), 1);
      assertThat(node.name()).endsWith(":" + server.port() + "/3");
      assertThat(String.valueOf(server.command("INFO", "keyspace"))).contains("db3:keys=3");
    }
  }

  @Test
  void nodeJoinsWhenItsServerComesUp() {
    int port;
    try (RedisServer first = RedisServer.start()) {
      port = first.port();
    }
    try (RedisNode node = RedisNode.connect("redis://127.0.0.1:" + port)) {
      assertThat(grant(node, entry("a", "r"), 1)).isInstanceOf(Failed.class);
      try (RedisServer later = RedisServer.builder().port(port).start()) {
        await().until(() -> grant(node, entry("a", "r"), 1) instanceof GrantReply.Granted);
        later.restart();
        await().until(() -> grant(node, entry("a", "r"), 1) instanceof GrantReply.Granted);
      }
    }
  }

  @Test
  void oneServerThatHangsDoesNotKeepTheOthersFromConnecting() {
    try (RedisServers servers = RedisServers.start(3);
        FaultProxy silent = FaultProxy.to(servers.get(1))) {
      silent.hold();
      List<RedisNode> nodes =
          RedisNode.connectAll(servers.get(0).url(), silent.url("redis"), servers.get(2).url());
      granted(nodes.get(0), entry("a", "r"), 1);
      granted(nodes.get(2), entry("a", "r"), 1);
      assertThat(grant(nodes.get(1), entry("a", "r"), 1)).isInstanceOf(Failed.class);
      silent.heal();
      await().until(() -> grant(nodes.get(1), entry("a", "r"), 1) instanceof GrantReply.Granted);
      nodes.forEach(RedisNode::close);
    }
  }

  @Test
  void closeReturnsThoughTheServerHangs() {
    try (RedisServer server = RedisServer.start()) {
      RedisNode node = RedisNode.connect(server.url());
      granted(node, entry("a", "r"), 1);
      server.pause();
      var hanging =
          dev.lukko.testkit.SoleFleet.grant(
                  node, new dev.lukko.spi.GrantRequest(entry("b", "s"), 1_000, 1))
              .toCompletableFuture();
      node.close();
      assertThat(hanging).isDone();
    }
  }

  @Test
  void callersClientStaysOpenAndAsItWas() {
    try (RedisServer server = RedisServer.start()) {
      RedisURI uri = RedisURI.create(server.url());
      RedisClient client = RedisClient.create();
      try {
        ClientOptions before = client.getOptions();
        RedisNode node = RedisNode.over(client, uri);
        granted(node, entry("a", "r"), 1);
        node.close();
        assertThat(grant(node, entry("a", "r"), 1)).isInstanceOf(Failed.class);
        assertThat(client.getOptions()).isSameAs(before);
        assertThat(uri.getClientName()).isNull();
        try (var connection = client.connect(uri)) {
          assertThat(connection.sync().get("lukko:{r}")).isEqualTo("a");
        }
      } finally {
        client.shutdown();
      }
    }
  }

  @Test
  void nodeSurvivesThatTheCallersClientIsShutDownUnderIt() {
    try (RedisServer server = RedisServer.start()) {
      RedisClient client = RedisClient.create();
      RedisNode node = RedisNode.over(client, RedisURI.create(server.url()));
      granted(node, entry("a", "r"), 1);
      client.shutdown();
      assertThat(grant(node, entry("a", "r"), 1)).isInstanceOf(dev.lukko.spi.NodeFault.class);
      assertThat(release(node, entry("a", "r"))).isInstanceOf(dev.lukko.spi.NodeFault.class);
      node.close();
    }
  }

  @Test
  void driverWarnsOfNothingWhenNodesAreClosedThatHaveWaitedOrCannotConnect() throws Exception {
    try (RedisServer server = RedisServer.start();
        LogTap log = LogTap.on("io")) {
      RedisNode waited = RedisNode.connect(server.url());
      CountDownLatch subscribed = new CountDownLatch(1);
      waited.watch("r", subscribed::countDown).close();
      waited.watch("s", subscribed::countDown);
      assertThat(subscribed.await(30, TimeUnit.SECONDS)).isTrue();
      waited.close();
      int nobody = FreePort.find();
      for (int i = 0; i < 60; i++) {
        RedisNode down = RedisNode.connect("redis://127.0.0.1:" + nobody);
        LockSupport.parkNanos(i * 600_000L); // near one of the attempts to connect, or not
        down.close();
      }
      assertThat(log.warnings()).isEmpty();
    }
  }

  @Test
  void serverWithoutDurableWritesIsRemarkedOnOnceForEachOfItsRuns() {
    try (RedisServer server = RedisServer.start();
        LogTap log = LogTap.on("dev.lukko.redis")) {
      for (int i = 0; i < 3; i++) {
        RedisNode.connect(server.url()).close();
      }
      assertThat(log.all()).filteredOn(line -> line.contains("persists nothing")).hasSize(1);
      server.restart();
      for (int i = 0; i < 3; i++) {
        RedisNode.connect(server.url()).close();
      }
      assertThat(log.all()).filteredOn(line -> line.contains("persists nothing")).hasSize(2);
    }
  }
}
