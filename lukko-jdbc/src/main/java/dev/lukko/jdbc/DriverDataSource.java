package dev.lukko.jdbc;

import dev.lukko.text.PrintableAddress;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Iterator;
import java.util.Properties;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Fresh connections by URL: the small data source of its own that a node should have. */
final class DriverDataSource implements DataSource {
  private static final System.Logger LOG = System.getLogger(DriverDataSource.class.getName());
  private static final Pattern PROTOCOL = Pattern.compile("^jdbc:[a-z]{1,20}(?=:)");
  private static final String CONNECT_SECONDS = "2";
  private static final String CONNECT_MILLIS = "2000";

  private final Driver driver;
  private final String url;
  private final Properties properties;

  private DriverDataSource(Driver driver, String url, Properties properties) {
    this.driver = driver;
    this.url = url;
    this.properties = properties;
  }

  /**
   * Connections by this URL.
   *
   * @throws IllegalStateException if there is no driver for it
   */
  static DriverDataSource of(@Nullable String url) {
    if (url == null || !url.startsWith("jdbc:")) {
      // Not shown: what people take for a URL may hold a password.
      throw new IllegalArgumentException("url must be a JDBC URL, it must begin with \"jdbc:\"");
    }
    Properties properties = new Properties();
    if (url.startsWith("jdbc:postgresql:")) {
      putUnlessGiven(properties, url, "connectTimeout", CONNECT_SECONDS);
      putUnlessGiven(properties, url, "loginTimeout", CONNECT_SECONDS);
      putUnlessGiven(properties, url, "tcpKeepAlive", "true");
      putUnlessGiven(properties, url, "ApplicationName", "lukko");
    } else if (url.startsWith("jdbc:mysql:") || url.startsWith("jdbc:mariadb:")) {
      putUnlessGiven(properties, url, "connectTimeout", CONNECT_MILLIS);
    }
    return new DriverDataSource(driver(url), url, properties);
  }

  String url() {
    return url;
  }

  private static void putUnlessGiven(Properties into, String url, String key, String value) {
    if (!url.contains(key + "=")) {
      into.setProperty(key, value);
    }
  }

  /**
   * The driver for a URL. The manager of drivers knows those that were loaded before, and shows
   * only those that our own class loader sees; a driver in a web application, or beside it, is
   * found through the loader of the application's thread.
   */
  private static Driver driver(String url) {
    try {
      return DriverManager.getDriver(url);
    } catch (SQLException notLoadedOrNotVisible) {
      ClassLoader context = Thread.currentThread().getContextClassLoader();
      ClassLoader own = DriverDataSource.class.getClassLoader();
      for (ClassLoader loader : new @Nullable ClassLoader[] {context, own}) {
        Driver found = driver(url, loader);
        if (found != null) {
          return found;
        }
      }
      Matcher protocol = PROTOCOL.matcher(url);
      throw new IllegalStateException(
          "there is no JDBC driver for "
              + (protocol.find() ? protocol.group() : "this URL") // The rest may hold a password.
              + " in the class loader of this library or of this thread; add the driver, or build"
              + " the node on a DataSource",
          notLoadedOrNotVisible);
    }
  }

  private static @Nullable Driver driver(String url, @Nullable ClassLoader loader) {
    Iterator<Driver> drivers = ServiceLoader.load(Driver.class, loader).iterator();
    while (true) {
      try {
        if (!drivers.hasNext()) {
          return null;
        }
        Driver candidate = drivers.next();
        if (candidate.acceptsURL(url)) {
          return candidate;
        }
      } catch (ServiceConfigurationError | SQLException unusable) {
        LOG.log(System.Logger.Level.DEBUG, "a JDBC driver cannot be used", unusable);
      }
    }
  }

  @Override
  public Connection getConnection() throws SQLException {
    return connect(properties);
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    Properties login = new Properties();
    login.putAll(properties);
    login.setProperty("user", user);
    login.setProperty("password", password);
    return connect(login);
  }

  private Connection connect(Properties with) throws SQLException {
    try {
      Connection connection = driver.connect(url, with);
      if (connection == null) {
        throw new SQLException("the driver " + driver.getClass().getName() + " refuses its URL");
      }
      return connection;
    } catch (SQLException failure) {
      throw PrintableAddress.without(
          failure,
          url,
          said -> new SQLException(said, failure.getSQLState(), failure.getErrorCode()));
    } catch (RuntimeException failure) {
      throw PrintableAddress.without(failure, url, IllegalStateException::new);
    }
  }

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return null;
  }

  @Override
  public void setLogWriter(@Nullable PrintWriter out) {}

  @Override
  public void setLoginTimeout(int seconds) throws SQLException {
    throw new SQLFeatureNotSupportedException("the URL says how long a login may take");
  }

  @Override
  public int getLoginTimeout() {
    return 0;
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException("there is none");
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    if (type.isInstance(this)) {
      return type.cast(this);
    }
    throw new SQLException("this is no " + type.getName());
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return type.isInstance(this);
  }
}
