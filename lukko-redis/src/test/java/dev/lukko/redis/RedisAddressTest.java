package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lukko.redis.protocol.Login;
import dev.lukko.redis.protocol.RedisAccess;
import dev.lukko.redis.protocol.RedisAddress;
import dev.lukko.redis.protocol.RedisUrl;
import dev.lukko.redis.protocol.Secret;
import dev.lukko.redis.protocol.TlsFiles;
import dev.lukko.text.PrintableAddress;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslVerifyMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisAddressTest {

  @ParameterizedTest
  @CsvSource({
    "redis://host, host:6379",
    "redis://host:7000, host:7000",
    "redis://host:7000/3, host:7000/3",
    "redis://host/0, host:6379",
    "redis://:secret@host:7000, host:7000",
    "redis://user:secret@host:7000/1, host:7000/1",
    "rediss://user:secret@host:7000, host:7000",
    "redis-socket:///run/redis.sock, /run/redis.sock",
    "redis://[::1]:7000, [::1]:7000",
    "redis://my_host, my_host:6379",
    "redis-socket://user:secret@/run/redis.sock?database=2, /run/redis.sock#2",
  })
  void nameIsTheAddressWithoutSecrets(String url, String name) {
    assertThat(parse(url).name()).isEqualTo(name);
    assertThat(parse(url).toString()).isEqualTo(name);
  }

  private static RedisAddress parse(String url) {
    return RedisUrl.parse(url, RedisAccess.NONE);
  }

  @Test
  void sentinelAndClusterHaveSeveralPlaces() {
    RedisAddress sentinel =
        parse("redis-sentinel://u:secret@a,b:7000/3?sentinelMasterId=my%20master");
    assertThat(sentinel.name()).isEqualTo("my master/3 by Sentinel a:26379,b:7000");
    RedisAddress cluster = parse("rediss-cluster://a:1,[::1]:2");
    assertThat(cluster.name()).isEqualTo("cluster a:1,[::1]:2");
    assertThat(cluster.tls()).isNotNull();
  }

  @ParameterizedTest
  @CsvSource({
    "redis://alice:s%40c%2Fret+1@host, alice, s@c/ret+1",
    "redis://:secret@host,, secret",
    "redis://secret@host,, secret",
    "redis://:secret@host?user=alice, alice, secret",
    "redis://host?passwordEnv=PATH&user=alice, alice, ENV",
    "redis://alice@host?passwordEnv=PATH, alice, ENV",
    "redis://alice:@host?passwordEnv=PATH, alice, ENV",
  })
  void loginIsReadFromTheUrl(String url, String user, String password) {
    Login login = parse(url).login();
    assertThat(login.user()).isEqualTo(user);
    assertThat(login.password().read())
        .isEqualTo(password.equals("ENV") ? System.getenv("PATH") : password);
    assertThat(parse(url) + " " + login).doesNotContain("secret", "c/ret", System.getenv("PATH"));
  }

  @Test
  void whatTheUrlLeavesOpenComesFromTheBuilder() {
    RedisAccess access =
        RedisAccess.NONE.withLogin(new Login("bob", Secret.text("b"))).withClientName("me");
    assertThat(RedisUrl.parse("redis://host", access).login().user()).isEqualTo("bob");
    assertThat(RedisUrl.parse("redis://host", access).clientName()).isEqualTo("me");
    RedisAddress own = RedisUrl.parse("redis://:secret@host?clientName=you", access);
    assertThat(own.login().user()).as("bob's name goes with bob's password").isNull();
    assertThat(own.login().password().read()).isEqualTo("secret");
    assertThat(own.clientName()).isEqualTo("you");
    assertThat(RedisUrl.parse("redis://alice@host", access).login().user()).isEqualTo("alice");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "redis://host?password=secret | unknown parameter; those here are user, passwordFile",
        "redis://host?timeout=secret | unknown parameter",
        "redis://host?cacert=/secret | parameter cacert, which is for TLS",
        "redis://host?user=a&user=secret | parameter user empty or twice",
        "redis://host?clientName=se%20cret | clientName is",
        "redis://host?passwordEnv=LUKKO_NO_SUCH | (variable LUKKO_NO_SUCH) is not set",
        "redis://host?passwordFile=/no/such | (file /no/such) cannot be read: NoSuchFileException",
        "redis://:secret@host?passwordEnv=PATH | has a password, and a parameter",
        "redis://host?passwordFile=/a&passwordEnv=b | both passwordFile and passwordEnv",
        "redis://host?user=alice | user is \"alice\", and there is no password",
        "redis://a,b | several hosts",
        "redis://:sec%ret@host | percent sign",
        "redis-cluster://a/1 | a cluster has only one",
        "redis://a/1?database=2 | two different numbers",
        "redis-sentinel://a | no parameter sentinelMasterId",
        "redis://a?sentinelMasterId=b | unknown parameter",
        "rediss://a?verifyPeer=NONE | verifyPeer other than FULL",
        "rediss://a?cert=/no/such | cert and key must both be given",
        "rediss://a?cacert=/no/such | cacert is /no/such; it must be a readable file",
      })
  void wrongParameterIsRefusedWithTheRuleButNoSecret(String url, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.connect(url))
        .withMessageContaining(message)
        .satisfies(
            error -> {
              if (!message.startsWith("clientName")) {
                assertThat(error.toString()).doesNotContain("secret", "sec%ret");
              }
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "host",
        "host:6379",
        "http://u:secret@host",
        "redis-sentinel://u:secret@host",
        "redis-cluster://u:secret@",
        "redis://",
        "redis://:secret@",
        "redis://u:secret@host:port",
        "redis://u:secret@host:0",
        "redis://u:secret@host:65536",
        "redis://u:secret@host/db",
        "redis://u:secret@host/1/2",
        "redis://u:secret@host/-1",
        "redis://u:sec ret@host",
        "redis://u:secret/with@slash@host:x",
        "redis-socket://",
      })
  void malformedUrlIsRefusedWithTheRuleAndWhatOfItMayBeShown(String url) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.connect(url))
        .withMessageContaining("url \"" + PrintableAddress.of(url) + "\"")
        .withMessageContaining("redis://host:port/db")
        .satisfies(error -> assertThat(error.toString()).doesNotContain("secret"))
        .withNoCause();
  }

  @Test
  void emptyAddressesAreRefused() {
    RedisURI noMaster = new RedisURI();
    noMaster.getSentinels().add(RedisURI.create("redis://host"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.connect(noMaster))
        .withMessageContaining("sentinelMasterId");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.connect(new RedisURI()))
        .withMessageContaining("host");
  }

  @Test
  void settingsAreCheckedAtOnce() {
    RedisNodeBuilder builder = RedisNode.builder();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.connectTimeout(Duration.ZERO))
        .withMessageContaining("connectTimeout is PT0S");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.commandTimeout(Duration.ofHours(1)))
        .withMessageContaining("commandTimeout is PT1H");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.counterRetention(Duration.ofMillis(-1)))
        .withMessageContaining("counterRetention is PT-0.001S");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.name("a\nb"))
        .withMessageContaining("name");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.name("one").connectAll(List.of("redis://a", "redis://b")))
        .withMessageContaining("name");
  }

  @Test
  void filesForTlsOnAnAddressWithoutItAreRefused() {
    TlsFiles files = new TlsFiles(Path.of("ca.pem"), null, null);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisUrl.parse("redis://host", RedisAccess.NONE.withFiles(files)))
        .withMessageContaining("it must begin with rediss");
  }

  @Test
  void driverGetsCredentialsDatabaseAndTls() {
    Duration timeout = Duration.ofMillis(700);
    RedisAddress address = parse("rediss://user:secret@host:7000/3?verifyPeer=CA&clientName=me");
    RedisURI uri = DriverAddress.of(address, timeout).server();
    assertDriverHasAll(uri);
    assertThat(uri.getVerifyMode()).isEqualTo(SslVerifyMode.CA);
    RedisURI given = RedisURI.create("rediss://user:secret@host:7000/3?clientName=me");
    RedisURI copy = DriverAddress.of(given, RedisAccess.NONE, timeout).server();
    given.setDatabase(4);
    assertDriverHasAll(copy);
    assertThat(copy.getVerifyMode()).isEqualTo(SslVerifyMode.FULL);
  }

  private static void assertDriverHasAll(RedisURI uri) {
    assertThat(uri.isSsl()).isTrue();
    assertThat(uri.getHost()).isEqualTo("host");
    assertThat(uri.getPort()).isEqualTo(7000);
    assertThat(uri.getDatabase()).isEqualTo(3);
    assertThat(uri.getTimeout()).isEqualTo(Duration.ofMillis(700));
    assertThat(uri.getClientName()).isEqualTo("me");
    var credentials = uri.getCredentialsProvider().resolveCredentials().block();
    assertThat(credentials.getUsername()).isEqualTo("user");
    assertThat(credentials.getPassword()).containsExactly("secret".toCharArray());
    assertThat(uri.toString()).doesNotContain("secret");
  }
}
