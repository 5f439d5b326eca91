package dev.lukko.jdbc;

import static dev.lukko.jdbc.JdbcNodeContract.entry;
import static dev.lukko.jdbc.JdbcNodeContract.now;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.NodeStatus;
import dev.lukko.testkit.SoleFleet;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A session that says "not here, not me" is left; the next request connects anew. */
class WrongServerTest {
  private static GrantReply grant(JdbcNode node, String owner) {
    return now(node.grant(new GrantRequest(entry(owner, "r"), 60_000, 1)));
  }

  private static JdbcNodeBuilder builder(TestDatabase database) {
    return database.node().name("n").requestTimeout(Duration.ofSeconds(30));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void sessionOnAPostgresThatIsReadOnly_isLeft_soThatTheNextRequestFindsThePrimary(
      boolean askedBefore) throws SQLException {
    TestDatabase database = Databases.postgres();
    String name;
    try (Connection connection = database.source().getConnection()) {
      name = connection.getCatalog();
    }
    // A session that begins now stays read-only, as one on a standby does.
    database.execute("ALTER DATABASE " + name + " SET default_transaction_read_only = on");
    try (JdbcNode node = builder(database).build()) {
      if (askedBefore) {
        NodeStatus status = now(node.status());
        assertThat(status.state()).isEqualTo(NodeStatus.State.UNFIT);
        assertThat(status.detail()).contains("read-only");
      } else {
        assertThat(grant(node, "a")).isInstanceOf(Failed.class);
      }
      try (Connection connection = database.source().getConnection();
          Statement statement = connection.createStatement()) {
        statement.execute("SET default_transaction_read_only = off");
        statement.execute("ALTER DATABASE " + name + " RESET default_transaction_read_only");
      }

      assertThat(SoleFleet.admit(node).state()).isEqualTo(NodeStatus.State.VOTING);
      assertThat(grant(node, "a")).isInstanceOf(Granted.class);
    }
  }

  @Test
  void sessionOnAMariaDbThatIsReadOnly_isLeft_soThatTheNextRequestConnectsAnew() {
    TestDatabase database = Databases.mariaDb();
    // A session that begins now stays read-only.
    database.execute("SET GLOBAL tx_read_only = 1");
    try (JdbcNode node = builder(database).build()) {
      try {
        assertThat(grant(node, "a")).isInstanceOf(Failed.class);
      } finally {
        database.execute("SET GLOBAL tx_read_only = 0");
      }
      assertThat(grant(node, "a")).isInstanceOf(Granted.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"'ON'", "'NO_LOCK'", "'NO_LOCK_NO_ADMIN'", "'on'", "1"})
  void replicaOfMariaDb12_whichAnswersWithWords_isUnfit(String answer) throws SQLException {
    assertThat(reasons(answer)).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"'OFF'", "'off'", "0", "@@global.read_only"})
  void primaryOfMariaDb_whateverItAnswersWith_isFit(String answer) throws SQLException {
    assertThat(reasons(answer)).isZero();
  }

  private static int reasons(String answer) throws SQLException {
    try (Connection connection = Databases.mariaDbSource().getConnection()) {
      return DialectTraits.texts(connection, MySqlTraits.unfitIf(answer)).size();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "25006, true", // read-only
    "25P02, true", // in a transaction that has failed
    "0A000, true", // not supported here
    "42501, true", // not allowed here
    "42P01, true", // no such table here
    "28000, true", // not allowed in
    "55000, true", // not in the state for it
    "26000, true", // the statement that was prepared is gone
    "3D000, true", // no such database
    "57P01, true", // is being shut down
    "57P03, true", // is starting up
    "08006, true", // the connection is broken
    "55P03, false", // another has the row
    "57014, false", // took too long
    "40001, false", // lost against another
    "23514, false", // the row is not as it should be
    "53100, false" // no room
  })
  void answerThatSaysNotHere_endsTheSession_andOneAboutTheRowsDoesNot(String state, boolean left) {
    TestDatabase database = Databases.postgres();
    ScriptedSource source = new ScriptedSource(database.source());
    try (JdbcNode node =
        JdbcNode.builder(source.source())
            .name("n")
            .notifications(false)
            .requestTimeout(Duration.ofSeconds(30))
            .build()) {
      assertThat(grant(node, "a")).isInstanceOf(Granted.class);
      int before = source.connections.size();
      boolean[] failed = new boolean[1];
      source.failWith(
          sql -> {
            if (failed[0]) {
              return null;
            }
            failed[0] = true;
            return new SQLException("scripted", state);
          });
      grant(node, "b");
      grant(node, "c");
      assertThat(source.connections.size() > before).as("connects anew").isEqualTo(left);
    }
  }
}
