package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The address of a database leads to another one while its client lives. */
class MovedAddressTest {
  private static final LockRequest JOB =
      LockRequest.builder("job").ttl(Duration.ofMinutes(1)).maxWait(Duration.ZERO).build();

  private final TestDatabase first = Databases.h2();
  private final TestDatabase second = Databases.h2();
  private final TestDatabase third = Databases.h2();
  private final List<Connection> opened = new CopyOnWriteArrayList<>();
  private volatile TestDatabase target = first;

  /** Leads to the first database, and later to another one. */
  private final DataSource moving =
      (DataSource)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {DataSource.class},
              (proxy, method, arguments) -> {
                try {
                  Object result = method.invoke(target.source(), arguments);
                  if (result instanceof Connection connection) {
                    opened.add(connection);
                  }
                  return result;
                } catch (InvocationTargetException failure) {
                  throw failure.getCause();
                }
              });

  private static Redlock client(JdbcNode... nodes) {
    return Redlock.builder()
        .nodes(List.of(nodes))
        .nodeTimeout(Duration.ofSeconds(10))
        .retryCount(0)
        .build();
  }

  private void leadTo(TestDatabase other) throws SQLException {
    target = other;
    for (Connection connection : opened) {
      connection.close();
    }
  }

  @Test
  void databaseThatIsReachedByTwoAddressesHasOneVote() throws Exception {
    try (Redlock holder =
            client(
                first.node().name("a").build(),
                second.node().name("b").build(),
                third.node().name("c").build());
        Redlock other =
            client(
                JdbcNode.builder(moving).name("a").dialect(Dialect.H2).build(),
                second.node().name("b").build(),
                third.node().name("c").build())) {
      Lease lease = holder.acquire(JOB);
      assertThatThrownBy(() -> other.acquire(JOB)).isInstanceOf(LockException.class);
      leadTo(third);
      lease.release();
      Lease free = other.acquire(JOB);
      assertThat(free.isValid()).as("by b and one of a and c").isTrue();
      free.release();
      second.update(
          "UPDATE lukko_lock SET owner = 'x', expires_at = 9000000000000000 WHERE name = ?", "job");
      await().until(() -> second.holders("job") == 1);
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> other.acquire(JOB))
            .as("a and c are one database")
            .isInstanceOf(LockException.class);
      }
    }
  }
}
