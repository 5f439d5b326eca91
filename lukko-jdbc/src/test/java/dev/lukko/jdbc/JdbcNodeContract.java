package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.LockException;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeStatus;
import dev.lukko.testkit.SoleFleet;
import dev.lukko.testkit.contract.LockNodeContract;
import dev.lukko.testkit.contract.StoreUnderTest;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a node answers on every database: the contract, and what SQL adds to it. */
abstract class JdbcNodeContract extends LockNodeContract {
  static final long TTL = 60_000;

  private TestDatabase database;
  private JdbcNode node;

  /** The database, without entries. */
  abstract TestDatabase database();

  abstract JdbcStore storeOn(TestDatabase database);

  @Override
  protected final StoreUnderTest openStore() {
    database = database();
    return storeOn(database);
  }

  private void openNamedNode() {
    node = database.node().name("db").build();
  }

  @AfterEach
  void closeNamedNode() {
    if (node != null) {
      node.close();
    }
  }

  static <T> T now(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    } catch (Exception failure) {
      throw new AssertionError("no reply", failure);
    }
  }

  static LockEntry entry(String owner, String... resources) {
    return LockEntry.exclusive(List.of(resources), owner);
  }

  static LockEntry reader(String owner, String... resources) {
    return new LockEntry(List.of(resources), owner, true);
  }

  private GrantReply grant(LockEntry entry, long proposal) {
    return now(node.grant(new GrantRequest(entry, TTL, proposal)));
  }

  @Test
  void whatCannotBeStored_isFailed_andSaysWhy() {
    openNamedNode();
    String tooLong = "x".repeat(256);
    assertThat(grant(entry(tooLong, "r"), 1)).isInstanceOf(Failed.class);
    assertThat(((Failed) grant(entry("a", tooLong), 1)).detail()).contains("256", "255");
    assertThat(((Failed) grant(entry("a", "half\ud83d"), 1)).detail()).contains("surrogate");
    assertThat(grant(entry("a", "zero\u0000"), 1)).isInstanceOf(Failed.class);
    assertThat(now(node.release(entry(tooLong, "r")))).isInstanceOf(Failed.class);
    assertThat(now(node.confirm(entry("a", "r"), -1))).isInstanceOf(Failed.class);
    assertThat(now(node.repair(entry("a", "r"), TTL, 1L << 53, Long.MAX_VALUE)))
        .isInstanceOf(Failed.class);
    assertThat(node.keptReleases()).isZero();
  }

  /** Rows of before the mark was kept, and counters that were restored by hand. */
  @Test
  void counterThatWasChangedWithoutItsMark_isNotJoinedByReaders() {
    openNamedNode();
    assertThat(grant(reader("a", "r"), 5)).isEqualTo(new GrantReply.Granted(5));
    assertThat(grant(reader("b", "r"), 9)).isEqualTo(new GrantReply.Granted(5));
    database.setCounter("r", "7");
    assertThat(grant(reader("c", "r"), 1)).isEqualTo(new GrantReply.Granted(8));
    database.update("UPDATE lukko_lock SET grant_counter = 0 WHERE name = ?", "r");
    assertThat(grant(reader("d", "r"), 1)).isEqualTo(new GrantReply.Granted(9));
    database.update("UPDATE lukko_lock SET grant_counter = counter WHERE name = ?", "r");
    assertThat(grant(reader("e", "r"), 1)).isEqualTo(new GrantReply.Granted(10));
  }

  @Test
  void status_tellsTheSameDatabaseByWhateverAddress() {
    openNamedNode();
    try (JdbcNode again = database.node().name("another name").build();
        JdbcNode other = Databases.sqlite().node().build()) {
      NodeStatus status = SoleFleet.admit(node);
      assertThat(status.state()).isEqualTo(NodeStatus.State.VOTING);
      assertThat(status.identity()).isPresent().isEqualTo(now(again.status()).identity());
      assertThat(now(other.status()).identity()).isPresent().isNotEqualTo(status.identity());
      again.close();
      assertThat(now(again.status()).state()).isEqualTo(NodeStatus.State.UNREACHABLE);
    }
  }

  @Test
  void theSameDatabaseTwice_isRefusedAsAQuorum() {
    openNamedNode();
    JdbcNode again = database.node().name("another name").build();
    assertThatThrownBy(() -> Redlock.builder().node(node).node(again).closeNodes(false).build())
        .isInstanceOf(LockException.class)
        .hasMessageContaining("db")
        .hasMessageContaining("another name")
        .hasMessageContaining("same server");
    again.close();
  }

  @Test
  void aNodeRemembersNothingOfOwnersThatAreDone() {
    openNamedNode();
    for (int i = 0; i < 20; i++) {
      LockEntry entry = entry("owner" + i, "r");
      grant(entry, i + 1);
      grant(entry("refused" + i, "r"), i + 1);
      now(node.release(entry));
    }
    assertThat(node.rememberedOwners()).isZero();
    assertThat(node.keptReleases()).isZero();
  }

  @Test
  void afterClose_everythingFails_andSaysWhy() {
    JdbcNode closing = database.node().name("closing").build();
    LockEntry entry = entry("a", "r");
    now(closing.grant(new GrantRequest(entry, TTL, 5)));
    closing.close();

    assertThat(now(closing.grant(new GrantRequest(entry, TTL, 5)))).isInstanceOf(Failed.class);
    assertThat(now(closing.release(entry))).isInstanceOf(Failed.class);
    assertThatThrownBy(() -> closing.inspect("r").toCompletableFuture().join())
        .hasMessageContaining("closed");
  }
}
