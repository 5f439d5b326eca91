package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lettuce.core.RedisURI;
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
  })
  void nameIsTheAddressWithoutSecrets(String url, String name) {
    assertThat(RedisAddress.parse(url).name()).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "host",
        "host:6379",
        "http://u:secret@host",
        "redis-sentinel://u:secret@host?sentinelMasterId=m",
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
  void malformedUrlIsRefusedWithItsValueAndTheRuleButNoPassword(String url) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.connect(url))
        .withMessageContaining("url \"" + url.replaceAll("//.*@", "//***@") + "\"")
        .withMessageContaining("redis://host:port/db")
        .satisfies(error -> assertThat(error.toString()).doesNotContain("secret"))
        .withNoCause();
  }

  @Test
  void oneBadUrlOfSeveralIsRefusedBeforeAnyConnection() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.connectAll("redis://127.0.0.1:1", "nonsense://x"));
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("lukko-redis"));
  }

  @Test
  void sentinelAndEmptyAddressesAreRefused() {
    RedisURI sentinel = RedisURI.Builder.sentinel("host", "master").build();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisNode.connect(sentinel))
        .withMessageContaining("Sentinel");
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
  void copyForTheDriverKeepsCredentialsDatabaseAndTls() {
    RedisURI copy =
        RedisAddress.parse("rediss://user:secret@host:7000/3")
            .uriWithTimeout(Duration.ofMillis(700));
    assertThat(copy.isSsl()).isTrue();
    assertThat(copy.getDatabase()).isEqualTo(3);
    assertThat(copy.getTimeout()).isEqualTo(Duration.ofMillis(700));
    assertThat(copy.getClientName()).isEqualTo("lukko");
    var credentials = copy.getCredentialsProvider().resolveCredentials().block();
    assertThat(credentials.getUsername()).isEqualTo("user");
    assertThat(credentials.getPassword()).containsExactly("secret".toCharArray());
  }
}
