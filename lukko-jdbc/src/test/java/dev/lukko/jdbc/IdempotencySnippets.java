package dev.lukko.jdbc;

import dev.lukko.fencing.RequestFingerprint;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** Code of the guide on idempotency keys, here to be compiled. */
final class IdempotencySnippets {

  String once(DataSource database, String key, String body) throws SQLException {
    // begin once
    IdempotencyKeys keys = IdempotencyKeys.over(database);
    String receipt =
        keys.runOnce(key, RequestFingerprint.of(body), connection -> pay(connection, body));
    // end once
    return receipt;
  }

  void callersTransaction(Connection connection, IdempotencyKeys keys, String key, String body)
      throws SQLException {
    // begin callers-transaction
    connection.setAutoCommit(false);
    keys.runOnce(connection, key, RequestFingerprint.of(body), c -> pay(c, body));
    connection.commit();
    // end callers-transaction
  }

  void settings(DataSource database) throws SQLException {
    // begin settings
    IdempotencyKeys keys =
        IdempotencyKeys.builder(database)
            .maxWait(Duration.ofSeconds(5))
            .retention(Duration.ofDays(2))
            .build();
    keys.createTable(); // or run the statements of keys.ddl(Dialect.POSTGRES)
    keys.purge(); // now and then
    // end settings
  }

  private static String pay(Connection connection, String body) throws SQLException {
    DialectTraits.execute(connection, "INSERT INTO payment VALUES (100)");
    return "paid: " + body;
  }
}
