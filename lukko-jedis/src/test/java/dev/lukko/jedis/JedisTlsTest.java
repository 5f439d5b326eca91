package dev.lukko.jedis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.NodeStatus;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.TestCertificates;
import dev.lukko.testkit.TestCertificates.Issued;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** TLS to a real server that asks for a certificate, with an authority of our own. */
class JedisTlsTest {

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static NodeStatus status(JedisNode node) {
    return node.status().toCompletableFuture().orTimeout(30, TimeUnit.SECONDS).join();
  }

  @Test
  void serverIsReachedWithItsAuthorityAndAClientCertificateAndElseRefused() throws IOException {
    try (TestCertificates authority = TestCertificates.create();
        TestCertificates stranger = TestCertificates.create()) {
      Issued forServer = authority.issue("server", "ip:127.0.0.1");
      Issued forClient = authority.issue("client", null);
      int port = freePort();
      try (RedisServer server =
              RedisServer.builder()
                  .config(
                      "tls-port " + port,
                      "tls-cert-file " + forServer.certificate(),
                      "tls-key-file " + forServer.key(),
                      "tls-ca-cert-file " + authority.authority(),
                      "tls-auth-clients yes")
                  .start();
          JedisNode trusted =
              JedisNode.builder()
                  .caCertificates(authority.authority())
                  .clientCertificate(forClient.certificate(), forClient.key())
                  .connect("rediss://127.0.0.1:" + port);
          JedisNode misnamed =
              JedisNode.builder()
                  .caCertificates(authority.authority())
                  .clientCertificate(forClient.certificate(), forClient.key())
                  .connect("rediss://localhost:" + port);
          JedisNode unchecked =
              JedisNode.builder()
                  .caCertificates(authority.authority())
                  .clientCertificate(forClient.certificate(), forClient.key())
                  .connect("rediss://localhost:" + port + "?verifyPeer=CA");
          JedisNode distrusted =
              JedisNode.builder()
                  .caCertificates(stranger.authority())
                  .connect("rediss://127.0.0.1:" + port)) {
        assertThat(server.isAlive()).isTrue();
        assertThat(status(trusted).awaitsAdmission()).isTrue();
        assertThat(status(unchecked).awaitsAdmission()).isTrue();
        assertThat(status(misnamed).state()).isEqualTo(NodeStatus.State.UNREACHABLE);
        assertThat(status(misnamed).detail()).contains("TLS");
        assertThat(status(distrusted).state()).isEqualTo(NodeStatus.State.UNREACHABLE);
        assertThat(status(distrusted).detail()).contains("TLS");
      }
    }
  }
}
