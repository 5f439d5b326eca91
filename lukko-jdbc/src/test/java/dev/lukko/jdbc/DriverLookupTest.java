package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Where the driver of a URL is looked for, and what happens if there is none. */
class DriverLookupTest {

  @Test
  void urlWithoutADriver_isRefusedAtOnce_withoutItsSecrets() {
    assertThatIllegalStateException()
        .isThrownBy(() -> JdbcNode.connect("jdbc:nosuch://u:hidden@db/x?password=hidden"))
        .withMessageContainingAll("no JDBC driver for jdbc:nosuch", "DataSource")
        .withMessageNotContaining("hidden");
  }

  @Test
  void dataSourceThatFindsNoDriver_isRefusedAtOnce_andIsNoOutage() {
    DataSource source = new DriverManagerDataSource("jdbc:nosuch:db");
    assertThatIllegalStateException()
        .isThrownBy(() -> JdbcNode.over(source))
        .withMessageContaining("No suitable driver");
  }

  @Test
  void driverThatOnlyTheApplicationsClassLoaderSees_isFound(@TempDir Path directory)
      throws Exception {
    DataSource h2 = EmptyDatabases.create(Dialect.H2);
    ApplicationsDriver.target = h2;
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader application = new URLClassLoader(services(directory), before)) {
      thread.setContextClassLoader(application);
      try (Connection connection =
          DriverDataSource.of("jdbc:application:x").getConnection("u", "p")) {
        assertThat(Dialect.of(connection)).isEqualTo(Dialect.H2);
      }
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static URL[] services(Path directory) throws IOException {
    Path services = Files.createDirectories(directory.resolve("META-INF").resolve("services"));
    Files.writeString(
        services.resolve(Driver.class.getName()),
        "no.such.Driver\n" + ApplicationsDriver.class.getName());
    try {
      return new URL[] {directory.toUri().toURL()};
    } catch (MalformedURLException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** A driver that nobody has registered. */
  public static final class ApplicationsDriver implements Driver {
    static DataSource target;

    @Override
    public Connection connect(String url, Properties info) throws SQLException {
      return acceptsURL(url) ? target.getConnection() : null;
    }

    @Override
    public boolean acceptsURL(String url) {
      return url.startsWith("jdbc:application:");
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
      return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
      return 1;
    }

    @Override
    public int getMinorVersion() {
      return 0;
    }

    @Override
    public boolean jdbcCompliant() {
      return false;
    }

    @Override
    public Logger getParentLogger() {
      return Logger.getGlobal();
    }
  }
}
