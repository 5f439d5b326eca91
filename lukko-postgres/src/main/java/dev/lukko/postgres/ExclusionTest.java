package dev.lukko.postgres;

import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Tries with two sessions whether the server's advisory locks exclude anybody. There are databases
 * that speak PostgreSQL's protocol and answer true to every lock function; on these, two clients
 * would hold one lock, and nothing would tell.
 */
final class ExclusionTest {
  private ExclusionTest() {}

  /**
   * Takes a lock that nobody else knows, and lets a second session try.
   *
   * @return false if no second connection could be had, and so nothing was found out
   * @throws UnsuitableDatabaseException if the locks exclude nobody, or cannot be given back
   */
  static boolean passes(Connection first, PgConnector connector) throws SQLException {
    Connection second;
    try {
      second = connector.open();
    } catch (SQLException noneLeft) {
      System.getLogger(ExclusionTest.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "no second connection to test the server's advisory locks with: {0}",
              noneLeft.getMessage());
      return false;
    }
    try {
      String key = "(" + new SecureRandom().nextLong() + ")";
      String lock = "pg_try_advisory_lock" + key;
      String unlock = "pg_advisory_unlock" + key;
      expect(first, lock, true);
      expect(second, lock, false);
      expect(second, "pg_try_advisory_lock_shared" + key, false);
      expect(second, "pg_try_advisory_xact_lock" + key, false);
      expect(first, unlock, true);
      expect(second, lock, true);
      expect(second, unlock, true);
      return true;
    } finally {
      PgConnector.closeQuietly(second);
    }
  }

  private static void expect(Connection session, String call, boolean expected)
      throws SQLException {
    try (Statement statement = session.createStatement();
        ResultSet result = statement.executeQuery("SELECT " + call)) {
      result.next();
      if (result.getBoolean(1) != expected) {
        throw new UnsuitableDatabaseException(
            "the server's advisory locks do not exclude: with one of two sessions holding a lock, "
                + call
                + " was "
                + !expected
                + ". This is no PostgreSQL, or these functions were replaced, or the DataSource"
                + " gives connections to different databases. Use table leases (JdbcNode) where"
                + " there are no such locks");
      }
    }
  }
}
