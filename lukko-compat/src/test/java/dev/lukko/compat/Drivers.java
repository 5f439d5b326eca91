package dev.lukko.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** The versions of the drivers that this process has, and those that it was started for. */
final class Drivers {

  private Drivers() {}

  static String wanted(String driver) {
    String version = System.getProperty("lukko.compat." + driver);
    assertThat(version).as("the wanted version of %s", driver).isNotNull();
    return version;
  }

  static String found(String artifact) throws IOException {
    try (InputStream in =
        Drivers.class.getResourceAsStream("/META-INF/maven/" + artifact + "/pom.properties")) {
      assertThat(in).as(artifact).isNotNull();
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version");
    }
  }
}
