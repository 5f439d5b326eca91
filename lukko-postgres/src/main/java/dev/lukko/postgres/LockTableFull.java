package dev.lukko.postgres;

import dev.lukko.LockException;
import java.sql.SQLException;
import java.util.List;

/** The server's shared lock table is full: what its terse error means, and what to do. */
final class LockTableFull {
  private static final String OUT_OF_MEMORY = "53200";

  private LockTableFull() {}

  static boolean isCauseOf(SQLException failure) {
    return OUT_OF_MEMORY.equals(failure.getSQLState());
  }

  static LockException exception(List<String> resources, SQLException failure) {
    String shown =
        resources.size() <= 3
            ? resources.toString()
            : resources.subList(0, 3) + " and " + (resources.size() - 3) + " more";
    return new LockException(
        "the server's lock table is full (\"out of shared memory\") at lock "
            + shown
            + ": all sessions together may hold about max_locks_per_transaction *"
            + " (max_connections + max_prepared_transactions) locks. Raise"
            + " max_locks_per_transaction (needs a restart), lock something coarser, or use table"
            + " leases (JdbcNode), which are rows and have no such limit",
        failure);
  }
}
