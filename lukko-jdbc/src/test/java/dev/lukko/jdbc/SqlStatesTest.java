package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqlStatesTest {

  @ParameterizedTest
  @ValueSource(strings = {"SQLITE_BUSY", "SQLITE_BUSY_RECOVERY", "SQLITE_BUSY_TIMEOUT"})
  void sqliteThatIsBusy_isALockTimeout(String result) {
    SQLException busy = new SQLException("[" + result + "] (database is locked)");
    assertThat(SqlStates.isLockTimeout(busy)).isTrue();
    assertThat(SqlStates.isRetryable(busy)).isFalse();
  }

  @Test
  void sqlitesOldSnapshot_needsTheTransactionAnew() {
    SQLException old = new SQLException("[SQLITE_BUSY_SNAPSHOT] (database is locked)");
    assertThat(SqlStates.isLockTimeout(old)).isFalse();
    assertThat(SqlStates.isRetryable(old)).isTrue();
  }
}
