package dev.lukko.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.LockException;
import dev.lukko.postgres.PostgresServer.Database;
import dev.lukko.schedule.LastRunStore;
import dev.lukko.schedule.LastRunStore.Decision;
import dev.lukko.testkit.LastRunStoreContract;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TimeZone;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresServer.Shared.class)
class PostgresLastRunStoreTest extends LastRunStoreContract {
  private final Database database;

  PostgresLastRunStoreTest(Database database) {
    this.database = database;
  }

  @Override
  protected LastRunStore emptyStore() {
    return PostgresLastRunStore.over(database.dataSource());
  }

  @Test
  void hourThatComesTwiceInTheLocalZoneHasTwoTicks() {
    TimeZone before = TimeZone.getDefault();
    TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
    try {
      LastRunStore store = PostgresLastRunStore.over(database.dataSource());
      Instant first = Instant.parse("2026-10-25T00:30:00Z");
      Instant second = Instant.parse("2026-10-25T01:30:00Z"); // 02:30 on the wall, both of them.
      assertThat(store.begin("job", first, 1, "one", Set.of())).isEqualTo(Decision.BEGUN);
      assertThat(store.begin("job", second, 2, "one", Set.of())).isEqualTo(Decision.BEGUN);
      assertThat(store.history("job", 1).get(0).tick()).isEqualTo(second);
    } finally {
      TimeZone.setDefault(before);
    }
  }

  @Test
  void rowThatNobodyWroteIsAnErrorOfItsJobAlone() throws Exception {
    LastRunStore store = PostgresLastRunStore.over(database.dataSource());
    Instant tick = Instant.parse("2026-01-31T03:00:00Z");
    for (String job : List.of("nightly", "hourly")) {
      store.begin(job, tick, 5, "one", Set.of());
    }
    for (String table : List.of("lukko.job", "lukko.job_run")) {
      database.execute("UPDATE " + table + " SET outcome = 'DONE' WHERE job = 'nightly'");
    }

    assertThatThrownBy(() -> store.history("nightly", 9))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("outcome holds garbage");
    assertThatThrownBy(() -> store.begin("nightly", tick, 6, "two", Set.of()))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("outcome holds garbage");
    assertThat(store.begin("hourly", tick.plusSeconds(60), 6, "two", Set.of()))
        .isEqualTo(Decision.BEGUN);
    assertThat(store.history("hourly", 9)).hasSize(2);
  }

  @Test
  void schemaThatIsMissingIsRefusedWithWhatToDo(PostgresServer server) throws Exception {
    LastRunStore store = PostgresLastRunStore.over(server.emptyDatabase().dataSource());
    assertThatThrownBy(() -> store.begin("job", Instant.EPOCH, 1, "one", Set.of()))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("schema lukko is missing");
  }
}
