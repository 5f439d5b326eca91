package dev.lukko.jdbc;

import dev.lukko.text.PrintableAddress;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Fresh connections by URL: the small data source of its own that a node should have. */
final class DriverDataSource implements DataSource {
  private static final String CONNECT_SECONDS = "2";
  private static final String CONNECT_MILLIS = "2000";

  private final String url;
  private final Properties properties;

  private DriverDataSource(String url, Properties properties) {
    this.url = url;
    this.properties = properties;
  }

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
    return new DriverDataSource(url, properties);
  }

  private static void putUnlessGiven(Properties into, String url, String key, String value) {
    if (!url.contains(key + "=")) {
      into.setProperty(key, value);
    }
  }

  @Override
  public Connection getConnection() throws SQLException {
    try {
      return DriverManager.getConnection(url, properties);
    } catch (SQLException failure) {
      throw withoutSecrets(failure);
    }
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    try {
      return DriverManager.getConnection(url, user, password);
    } catch (SQLException failure) {
      throw withoutSecrets(failure);
    }
  }

  /** Drivers repeat URLs that they cannot read, in whole or in part. */
  private SQLException withoutSecrets(SQLException failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      String message = String.valueOf(each.getMessage());
      if (!PrintableAddress.without(message, url).equals(message)) {
        SQLException hidden =
            new SQLException(
                PrintableAddress.without(String.valueOf(failure.getMessage()), url),
                failure.getSQLState(),
                failure.getErrorCode());
        hidden.setStackTrace(failure.getStackTrace());
        return hidden;
      }
    }
    return failure;
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
