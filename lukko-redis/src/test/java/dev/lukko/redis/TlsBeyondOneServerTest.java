package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.TestCertificates;
import dev.lukko.testkit.TestCertificates.Issued;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** TLS to a real Sentinel and the server that it names, and to a real cluster. */
class TlsBeyondOneServerTest {
  private static TestCertificates authority;
  private static TestCertificates stranger;
  private static Issued certificate;

  @BeforeAll
  static void start() {
    authority = TestCertificates.create();
    stranger = TestCertificates.create();
    certificate = authority.issue("server", "ip:127.0.0.1");
  }

  @AfterAll
  static void stop() {
    authority.close();
    stranger.close();
  }

  private static RedisServer.Builder secured(int tlsPort) {
    return TlsTest.secured(authority, certificate, tlsPort, "tls-auth-clients no")
        .config("tls-replication yes");
  }

  /** The first handshake of a process can outlast the attempt to connect. */
  private static void awaitConnection(RedisNode node) {
    await().until(() -> !node.toString().contains("not connected"));
  }

  @Test
  void sentinelAndTheServerThatItNamesAreReachedByTlsAlone() throws InterruptedException {
    int masterPort = FreePort.find();
    int sentinelPort = FreePort.find();
    try (RedisServer master = secured(masterPort).start();
        RedisServer sentinel =
            secured(sentinelPort)
                .sentinel()
                .config("sentinel monitor main 127.0.0.1 " + masterPort + " 1")
                .start()) {
      assertThat(sentinel.isAlive()).isTrue();
      String url = "rediss-sentinel://127.0.0.1:" + sentinelPort + "?sentinelMasterId=main&cacert=";
      try (RedisNode node = RedisNode.connect(url + authority.authority())) {
        awaitConnection(node);
        Requests.admit(node);
        granted(node, entry("a", "r"), 5);
        assertThat(master.command("GET", "lukko:{r}")).isEqualTo("a");
        CountDownLatch hints = new CountDownLatch(2); // subscribed, and released
        try (LockNode.Watch watch = node.watch("r", hints::countDown)) {
          assertThat(watch).isNotNull();
          await().until(() -> hints.getCount() < 2);
          assertThat(release(node, entry("a", "r"))).isInstanceOf(ReleaseReply.Released.class);
          assertThat(hints.await(30, TimeUnit.SECONDS)).isTrue();
        }
      }
      TlsTest.assertUnreachable(url + stranger.authority(), "TLS: ");
    }
  }

  private record Member(RedisServer server, int tlsPort, int busPort) {
    static Member start() {
      int tlsPort = FreePort.find();
      int busPort = FreePort.find();
      RedisServer server =
          secured(tlsPort)
              .config("cluster-enabled yes", "tls-cluster yes", "cluster-port " + busPort)
              .start();
      return new Member(server, tlsPort, busPort);
    }
  }

  @Test
  void membersOfAClusterAreReachedByTlsAlone() {
    Member first = Member.start();
    try (RedisServer one = first.server()) {
      Member second = Member.start();
      try (RedisServer two = second.server()) {
        one.command("CLUSTER", "ADDSLOTSRANGE", "0", "8191");
        two.command("CLUSTER", "ADDSLOTSRANGE", "8192", "16383");
        one.command("CLUSTER", "MEET", "127.0.0.1", "" + second.tlsPort(), "" + second.busPort());
        for (RedisServer member : List.of(one, two)) {
          await()
              .atMost(Duration.ofSeconds(60))
              .until(() -> String.valueOf(member.command("CLUSTER", "INFO")).contains("state:ok"));
        }
        assertLocksOnBoth(one, two, url(first, authority.authority()));
        TlsTest.assertUnreachable(url(first, stranger.authority()), "TLS: ");
      }
    }
  }

  private static String url(Member seed, Path ca) {
    return "rediss-cluster://127.0.0.1:" + seed.tlsPort() + "?cacert=" + ca;
  }

  /** The names are in the slots of one member each. */
  private static void assertLocksOnBoth(RedisServer one, RedisServer two, String url) {
    try (RedisNode node = RedisNode.connect(url)) {
      awaitConnection(node);
      granted(node, entry("x", "b"), 5);
      assertThat(one.command("GET", "lukko:{b}")).isEqualTo("x");
      granted(node, entry("x", "a"), 5);
      assertThat(two.command("GET", "lukko:{a}")).isEqualTo("x");
      for (String name : List.of("a", "b")) {
        assertThat(release(node, entry("x", name))).isInstanceOf(ReleaseReply.Released.class);
      }
    }
  }
}
