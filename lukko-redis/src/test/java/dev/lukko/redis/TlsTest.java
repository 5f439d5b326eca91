package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.answer;
import static dev.lukko.redis.testing.Requests.entry;
import static dev.lukko.redis.testing.Requests.granted;
import static dev.lukko.redis.testing.Requests.release;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.lukko.redis.testing.Requests;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.TestCertificates;
import dev.lukko.testkit.TestCertificates.Issued;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS to a real server, with certificates of an authority of our own. */
class TlsTest {
  private static TestCertificates authority;
  private static Issued forServer;
  private static Issued forClient;
  private static TestCertificates stranger;
  private static RedisServer server;
  private static int port;

  @BeforeAll
  static void start() {
    authority = TestCertificates.create();
    stranger = TestCertificates.create();
    forServer = authority.issue("server", "ip:127.0.0.1,dns:localhost");
    forClient = authority.issue("client", null);
    port = FreePort.find();
    server = start(forServer, port, "tls-auth-clients no");
  }

  private static RedisServer start(Issued certificate, int tlsPort, String clients) {
    return secured(authority, certificate, tlsPort, clients).start();
  }

  /** A server that speaks TLS at a second port. */
  static RedisServer.Builder secured(
      TestCertificates authority, Issued certificate, int tlsPort, String clients) {
    return RedisServer.builder()
        .config(
            "tls-port " + tlsPort,
            "tls-cert-file " + certificate.certificate(),
            "tls-key-file " + certificate.key(),
            "tls-ca-cert-file " + authority.authority(),
            clients);
  }

  @AfterAll
  static void stop() {
    server.close();
    authority.close();
    stranger.close();
  }

  private static String url(int tlsPort, Path ca) {
    return "rediss://127.0.0.1:" + tlsPort + "?cacert=" + ca;
  }

  private static void assertLocks(RedisNode node) {
    Requests.admit(node);
    granted(node, entry("a", "r"), 5);
    assertThat(release(node, entry("a", "r"))).isInstanceOf(ReleaseReply.Released.class);
  }

  static void assertUnreachable(String url, String why) {
    try (RedisNode node = RedisNode.connect(url)) {
      await()
          .untilAsserted(
              () -> {
                var status = answer(node.status());
                assertThat(status.state()).isEqualTo(State.UNREACHABLE);
                assertThat(status.detail()).containsPattern(why);
              });
    }
  }

  @Test
  void serverOfAnOwnAuthorityIsTrustedByUrlAndByBuilder() throws InterruptedException {
    try (RedisNode node = RedisNode.connect(url(port, authority.authority()))) {
      assertLocks(node);
      CountDownLatch hints = new CountDownLatch(2); // subscribed, and released
      try (LockNode.Watch watch = node.watch("r", hints::countDown)) {
        assertThat(watch).isNotNull();
        await().until(() -> hints.getCount() < 2);
        assertLocks(node);
        assertThat(hints.await(30, TimeUnit.SECONDS)).isTrue();
      }
    }
    try (RedisNode node =
        RedisNode.builder()
            .caCertificates(authority.authority())
            .connect("rediss://localhost:" + port)) {
      assertLocks(node);
    }
  }

  @Test
  void serverOfAnUnknownAuthorityIsNotTalkedTo() {
    assertUnreachable(url(port, stranger.authority()), "TLS: ");
    assertUnreachable("rediss://127.0.0.1:" + port, "valid certification path");
  }

  @Test
  void serverThatSpeaksNoTlsIsUnreachableWithTheCause() {
    assertUnreachable(
        "rediss://127.0.0.1:" + server.port() + "?cacert=" + authority.authority(),
        "not connected");
  }

  @Test
  void certificateMustNameTheHostUnlessToldOtherwise() {
    int other = FreePort.find();
    Issued elsewhere = authority.issue("elsewhere", "dns:elsewhere.example");
    try (RedisServer named = start(elsewhere, other, "tls-auth-clients no")) {
      assertThat(named.isAlive()).isTrue();
      assertUnreachable(url(other, authority.authority()), "TLS: ");
      try (RedisNode node =
          RedisNode.connect(url(other, authority.authority()) + "&verifyPeer=CA")) {
        assertLocks(node);
      }
    }
  }

  @Test
  void clientProvesItselfWithItsCertificateWhereTheServerAsks(@TempDir Path folder)
      throws IOException {
    int asking = FreePort.find();
    try (RedisServer strict = start(forServer, asking, "tls-auth-clients yes")) {
      // The alert of the server, or a connection that is lost behind the handshake.
      assertUnreachable(url(asking, authority.authority()), "TLS: |not connected");
      // as it is renewed in place: first one that the server does not accept
      Path certificate = folder.resolve("client.pem");
      Path key = folder.resolve("client.key");
      Issued foreign = stranger.issue("client", null);
      Files.copy(foreign.certificate(), certificate);
      Files.copy(foreign.key(), key);
      String url = url(asking, authority.authority()) + "&cert=" + certificate + "&key=" + key;
      try (RedisNode node = RedisNode.connect(url)) {
        assertThat(answer(node.status()).state()).isEqualTo(State.UNREACHABLE);
        Files.copy(forClient.key(), key, StandardCopyOption.REPLACE_EXISTING);
        Files.copy(forClient.certificate(), certificate, StandardCopyOption.REPLACE_EXISTING);
        await().until(() -> answer(node.status()).state() != State.UNREACHABLE);
        assertLocks(node);
      }
      try (RedisNode node =
          RedisNode.builder()
              .caCertificates(authority.authority())
              .clientCertificate(forClient.certificate(), forClient.key())
              .connect("rediss://127.0.0.1:" + asking)) {
        assertLocks(node);
      }
      assertThat(strict.isAlive()).isTrue();
    }
  }

  @Test
  void wrongFilesAreRefusedBeforeAnyConnection(@TempDir Path folder) throws IOException {
    Path rsa = folder.resolve("rsa.key");
    Files.writeString(rsa, "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n");
    Path broken = folder.resolve("broken.key");
    Files.writeString(broken, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n");
    RedisNodeBuilder builder = RedisNode.builder();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.caCertificates(rsa))
        .withMessageContaining("cacert is " + rsa);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.clientCertificate(forClient.certificate(), rsa))
        .withMessageContaining("openssl pkcs8 -topk8 -nocrypt -in " + rsa);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.clientCertificate(forClient.certificate(), broken))
        .withMessageContaining("RSA key of the certificate")
        .withNoCause();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.connect("redis://h?cacert=" + authority.authority()))
        .withMessageContaining("write rediss");
  }
}
