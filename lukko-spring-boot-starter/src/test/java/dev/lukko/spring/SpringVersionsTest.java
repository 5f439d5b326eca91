package dev.lukko.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.Version;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;
import org.springframework.core.SpringVersion;

/** The other tests of a line say nothing if they run with another one. */
class SpringVersionsTest {

  @Test
  void processHasTheSpringOfItsLine() {
    assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("lukko.spring.boot"));
    assertThat(SpringVersion.getVersion()).isEqualTo(System.getProperty("lukko.spring.framework"));
    assertThat(Version.identify().values())
        .extracting(Version::artifactVersion)
        .isNotEmpty()
        .containsOnly(System.getProperty("lukko.spring.netty"));
  }
}
