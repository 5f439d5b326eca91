package dev.lukko.postgres;

import dev.lukko.text.PrintableAddress;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGConnection;

/** A way to open physical connections, each in bounded time and for one purpose. */
final class PgConnector {

  /** Whatever opens a connection; it may hang. */
  @FunctionalInterface
  interface Opening {
    Connection open() throws SQLException;
  }

  private final Opening opening;
  private final Bounded bounded;
  private final Duration timeout;

  PgConnector(Opening opening, Bounded bounded, Duration timeout) {
    this.opening = opening;
    this.bounded = bounded;
    this.timeout = timeout;
  }

  static Opening to(DataSource dataSource) {
    return dataSource::getConnection;
  }

  static Opening to(
      String url, @Nullable String user, @Nullable String password, Duration timeout) {
    Properties properties = new Properties();
    if (user != null) {
      properties.setProperty("user", user);
    }
    if (password != null) {
      properties.setProperty("password", password);
    }
    long seconds = Math.max(1, (timeout.toMillis() + 999) / 1000);
    properties.setProperty("connectTimeout", Long.toString(seconds));
    properties.setProperty("socketTimeout", Long.toString(seconds));
    properties.setProperty("tcpKeepAlive", "true");
    // Not through the manager of drivers, which shows only what it has found in other class
    // loaders.
    Driver driver = new Driver();
    return () -> {
      try {
        Connection connection = driver.connect(url, properties);
        if (connection == null) {
          throw new SQLException("url must begin with \"jdbc:postgresql:\"", "08001");
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
    };
  }

  /**
   * Opens a connection whose reads end after the timeout.
   *
   * @throws SQLException if it cannot be opened in time; one that opens later is closed again
   */
  Connection open() throws SQLException {
    Connection connection = bounded.call(opening::open, timeout, PgConnector::closeQuietly);
    try {
      if (!(connection instanceof PGConnection)) {
        throw new UnsuitableDatabaseException(
            "the DataSource gives "
                + connection.getClass().getName()
                + ", which is not a connection of the PostgreSQL driver itself: a pool would put a"
                + " session that still holds locks back into circulation, and holders would"
                + " starve the pool. Give a url, or a PGSimpleDataSource");
      }
      connection.setNetworkTimeout(Runnable::run, Math.toIntExact(timeout.toMillis()));
      connection.setAutoCommit(true);
      return connection;
    } catch (SQLException | RuntimeException failure) {
      closeQuietly(connection);
      throw failure;
    }
  }

  static void closeQuietly(Connection connection) {
    try {
      connection.close();
    } catch (SQLException alreadyBroken) {
      System.getLogger(PgConnector.class.getName())
          .log(System.Logger.Level.DEBUG, "a connection did not close cleanly", alreadyBroken);
    }
  }

  /** Runs calls that may hang in a callback thread and waits for them in bounded time. */
  record Bounded(dev.lukko.time.Scheduler scheduler) {

    /** A call that may hang. */
    @FunctionalInterface
    interface Call<T> {
      T run() throws SQLException;
    }

    <T> T call(Call<T> call, Duration timeout, java.util.function.Consumer<? super T> tooLate)
        throws SQLException {
      CompletableFuture<T> result = new CompletableFuture<>();
      scheduler.execute(
          () -> {
            try {
              T value = call.run();
              if (!result.complete(value)) {
                tooLate.accept(value);
              }
            } catch (Throwable failure) {
              result.completeExceptionally(failure);
            }
          });
      try {
        return BoundedWait.result(result, timeout.toNanos());
      } catch (TimeoutException hung) {
        result.completeExceptionally(
            new SQLTimeoutException(
                "no connection after " + timeout.toMillis() + " ms", "08001", hung));
        return settled(result);
      }
    }

    /** What came first, the connection or the end of the wait. */
    private static <T> T settled(CompletableFuture<T> result) throws SQLException {
      try {
        return BoundedWait.result(result, 0);
      } catch (TimeoutException never) {
        throw new IllegalStateException(never);
      }
    }
  }
}
