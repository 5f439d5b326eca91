package dev.lukko.jdbc;

import dev.lukko.fencing.RequestFingerprint;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/** A process that does the work of a key, says so, and never commits. */
public final class CrashingCall {
  static final String DONE = "work done, not committed";

  private CrashingCall() {}

  /** Arguments: the database's URL. */
  public static void main(String[] arguments) throws Exception {
    DataSource database = EmptyDatabases.at(arguments[0]);
    IdempotencyKeys.over(database)
        .runOnce(
            "key",
            RequestFingerprint.of("request"),
            connection -> {
              DialectTraits.execute(connection, "INSERT INTO payment VALUES (1)");
              System.out.println(DONE);
              await();
              return "never";
            });
  }

  private static void await() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
