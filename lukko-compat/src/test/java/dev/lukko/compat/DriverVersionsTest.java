package dev.lukko.compat;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.Version;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The other tests of a line say nothing if they run with other drivers. */
@Tag("driver-line")
class DriverVersionsTest {

  @Test
  void processHasTheDriversOfItsLine() throws IOException {
    assertThat(Drivers.found("io.lettuce/lettuce-core")).isEqualTo(Drivers.wanted("lettuce"));
    assertThat(Drivers.found("redis.clients/jedis")).isEqualTo(Drivers.wanted("jedis"));
    assertThat(Version.identify().values())
        .extracting(Version::artifactVersion)
        .isNotEmpty()
        .containsOnly(Drivers.wanted("netty"));
  }
}
