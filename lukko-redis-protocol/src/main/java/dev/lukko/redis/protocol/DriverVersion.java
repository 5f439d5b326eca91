package dev.lukko.redis.protocol;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The version of a driver that an application brings, and the oldest one that will do. */
public final class DriverVersion {
  private static final Pattern FORM = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})(?:\\D.*)?");

  private DriverVersion() {}

  /**
   * Refuses a driver that is too old. One that does not tell its version is not refused.
   *
   * @param driver what people call it
   * @param artifact its group and name in Maven, with a slash between
   * @param part any class of it
   * @throws IllegalStateException naming the version that was found and the one that is needed
   */
  public static void require(String driver, String artifact, Class<?> part, int major, int minor) {
    require(driver, versionOf(artifact, part), major, minor);
  }

  static void require(String driver, @Nullable String version, int major, int minor) {
    Matcher matcher = version == null ? null : FORM.matcher(version);
    if (matcher == null || !matcher.matches()) {
      return;
    }
    int foundMajor = Integer.parseInt(matcher.group(1));
    int foundMinor = Integer.parseInt(matcher.group(2));
    if (foundMajor < major || (foundMajor == major && foundMinor < minor)) {
      throw new IllegalStateException(
          "the driver "
              + driver
              + " is version "
              + version
              + ", which is too old; it must be "
              + major
              + "."
              + minor
              + " or later");
    }
  }

  private static @Nullable String versionOf(String artifact, Class<?> part) {
    try (InputStream in =
        part.getResourceAsStream("/META-INF/maven/" + artifact + "/pom.properties")) {
      if (in == null) {
        return null;
      }
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version");
    } catch (IOException unreadable) {
      return null;
    }
  }
}
