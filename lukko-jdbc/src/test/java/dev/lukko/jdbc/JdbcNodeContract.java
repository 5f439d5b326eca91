package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.LockException;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.OwnerValue;
import dev.lukko.spi.ReleaseReply;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a node answers on every database: each verb, each reply. */
abstract class JdbcNodeContract {
  static final long TTL = 60_000;

  TestDatabase database;
  JdbcNode node;

  abstract TestDatabase database();

  @BeforeEach
  void open() {
    database = database();
    node = database.node().name("db").build();
  }

  @AfterEach
  void close() {
    node.close();
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

  GrantReply grant(LockEntry entry, long proposal) {
    return now(node.grant(new GrantRequest(entry, TTL, proposal)));
  }

  @Test
  void aFreeResource_isGrantedWithTheProposal() {
    assertThat(grant(entry("a", "r"), 5)).isEqualTo(new Granted(5));
    assertThat(database.holders("r")).isEqualTo(1);
    assertThat(database.counter("r")).isEqualTo(5);
  }

  @Test
  void aHeldResource_isRefusedWithCounterAndHolder_andNothingChanges() {
    grant(entry("a", "r"), 5);
    GrantReply reply = grant(entry("b", "r"), 99);

    assertThat(reply).isInstanceOf(Refused.class);
    Refused refused = (Refused) reply;
    assertThat(refused.counter()).isEqualTo(5);
    assertThat(refused.holder().description()).contains("a");
    assertThat(refused.holder().remaining().orElseThrow())
        .isPositive()
        .isLessThanOrEqualTo(Duration.ofMillis(TTL));
    assertThat(database.counter("r")).isEqualTo(5);
    assertThat(now(node.extend(entry("a", "r"), TTL))).isEqualTo(new ExtendReply.Extended());
  }

  @Test
  void theHolderInARefusal_isDescribedWithoutItsSecret() {
    String owner =
        OwnerValue.create(
            new java.security.SecureRandom(), java.time.Instant.EPOCH, "4711@web-1/main nightly");
    grant(entry(owner, "r"), 5);

    Refused refused = (Refused) grant(entry("b", "r"), 6);

    assertThat(refused.holder().description()).isEqualTo("4711@web-1/main nightly");
    assertThat(refused.holder().toString()).doesNotContain(owner.substring(0, 27));
  }

  @Test
  void aRepeatedGrant_getsTheStoredAnswer_andRaisesNothing() {
    grant(entry("a", "r"), 5);
    assertThat(grant(entry("a", "r"), 77)).isEqualTo(new Granted(5));
    assertThat(database.counter("r")).isEqualTo(5);
  }

  @Test
  void aRepeatedGrantAfterAConfirm_getsTheNumberOfTheFirstTime() {
    grant(entry("a", "r"), 5);
    now(node.confirm(entry("a", "r"), 8));
    assertThat(grant(entry("a", "r"), 77)).isEqualTo(new Granted(5));
    assertThat(database.counter("r")).isEqualTo(8);
  }

  @Test
  void countersRise_overReleaseAndExpiry_whateverIsProposed() {
    assertThat(grant(entry("a", "r"), 10)).isEqualTo(new Granted(10));
    now(node.release(entry("a", "r")));
    assertThat(grant(entry("b", "r"), 3)).isEqualTo(new Granted(11));
    database.expire("r");
    assertThat(grant(entry("c", "r"), 11)).isEqualTo(new Granted(12));
    now(node.release(entry("c", "r")));
    assertThat(grant(entry("d", "r"), 500)).isEqualTo(new Granted(500));
  }

  @Test
  void ownersAreComparedExactly() {
    grant(entry("foobar", "r"), 5);
    for (String almost : List.of("foo", "foobarx", "FOOBAR", "foobar ", "foobär", " foobar")) {
      assertThat(grant(entry(almost, "r"), 9)).as(almost).isInstanceOf(Refused.class);
      assertThat(now(node.confirm(entry(almost, "r"), 9)))
          .as(almost)
          .isEqualTo(new ConfirmReply.NotHeld());
      assertThat(now(node.extend(entry(almost, "r"), TTL)))
          .as(almost)
          .isInstanceOf(ExtendReply.HeldByOther.class);
      assertThat(now(node.release(entry(almost, "r"))))
          .as(almost)
          .isEqualTo(new ReleaseReply.NotHeld());
    }
    assertThat(grant(entry("foobar", "r"), 9)).isEqualTo(new Granted(5));
  }

  @Test
  void namesAreComparedExactly() {
    List<String> names =
        List.of("name", "NAME", "Name", "name ", " name", "náme", "na\u0301me", "name\u00a0");
    long proposal = 1;
    for (String name : names) {
      assertThat(grant(entry("a" + proposal, name), proposal))
          .as(name)
          .isEqualTo(new Granted(proposal));
      proposal++;
    }
  }

  @Test
  void theLongestAndTheStrangestTexts_areStored() {
    String emoji = "\ud83d\udd12".repeat(127) + "x";
    String threeBytes = "\u6f22".repeat(255);
    String quotes = "';--\"`\\%_$1?:name{now}";
    long proposal = 1;
    for (String text : List.of(emoji, threeBytes, quotes, "\u0001\n\t", "\uffff")) {
      assertThat(grant(entry(text, text), proposal)).as(text).isEqualTo(new Granted(proposal));
      assertThat(grant(entry(text, text), 99)).as(text).isEqualTo(new Granted(proposal));
      assertThat(grant(entry("other", text), 99)).as(text).isInstanceOf(Refused.class);
      assertThat(now(node.release(entry(text, text)))).isEqualTo(new ReleaseReply.Released());
      proposal++;
    }
    assertThat(grant(entry("many", emoji, quotes, threeBytes), 1000)).isEqualTo(new Granted(1000));
  }

  @Test
  void whatCannotBeStored_isFailed_andSaysWhy() {
    String tooLong = "x".repeat(256);
    assertThat(grant(entry(tooLong, "r"), 1)).isInstanceOf(Failed.class);
    assertThat(((Failed) grant(entry("a", tooLong), 1)).detail()).contains("256", "255");
    assertThat(((Failed) grant(entry("a", "half\ud83d"), 1)).detail()).contains("surrogate");
    assertThat(grant(entry("a", "zero\u0000"), 1)).isInstanceOf(Failed.class);
    assertThat(now(node.release(entry(tooLong, "r")))).isInstanceOf(Failed.class);
    assertThat(now(node.confirm(entry("a", "r"), -1))).isInstanceOf(Failed.class);
    assertThat(now(node.repair(entry("a", "r"), TTL, 1L << 53))).isInstanceOf(Failed.class);
    assertThat(node.keptReleases()).isZero();
  }

  @Test
  void anEntryExpires_byTheDatabasesClock_withoutAnybodysHelp() {
    now(node.grant(new GrantRequest(entry("a", "r"), 50, 5)));
    await().until(() -> grant(entry("b", "r"), 6) instanceof Granted);
    assertThat(now(node.extend(entry("a", "r"), TTL))).isInstanceOf(ExtendReply.HeldByOther.class);
  }

  @Test
  void aStaleHolder_canDoNothing_andTheOthersEntryStands() {
    grant(entry("stale", "r"), 5);
    database.expire("r");
    grant(entry("next", "r"), 6);

    assertThat(now(node.extend(entry("stale", "r"), TTL)))
        .isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(now(node.repair(entry("stale", "r"), TTL, 9)))
        .isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(now(node.confirm(entry("stale", "r"), 9))).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(now(node.release(entry("stale", "r")))).isEqualTo(new ReleaseReply.NotHeld());

    assertThat(database.counter("r")).isEqualTo(6);
    assertThat(grant(entry("next", "r"), 50)).isEqualTo(new Granted(6));
  }

  @Test
  void anExpiredEntry_isAsGoodAsNone_forItsOwnOwner() {
    grant(entry("a", "r"), 5);
    database.expire("r");

    assertThat(now(node.extend(entry("a", "r"), TTL))).isEqualTo(new ExtendReply.Missing());
    assertThat(now(node.confirm(entry("a", "r"), 9))).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(now(node.release(entry("a", "r")))).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(database.counter("r")).isEqualTo(5);
    assertThat(grant(entry("a", "r"), 5)).isEqualTo(new Granted(6));
  }

  @Test
  void confirm_hasBothConditions() {
    LockEntry entry = entry("a", "r");
    assertThat(now(node.confirm(entry, 9))).isEqualTo(new ConfirmReply.NotHeld());
    grant(entry, 5);
    assertThat(now(node.confirm(entry, 5))).isEqualTo(new ConfirmReply.Higher(5));
    assertThat(now(node.confirm(entry, 4))).isEqualTo(new ConfirmReply.Higher(5));
    assertThat(now(node.confirm(entry, 6))).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(now(node.confirm(entry, 6))).isEqualTo(new ConfirmReply.Higher(6));
    assertThat(now(node.confirm(entry("b", "r"), 7))).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(database.counter("r")).isEqualTo(6);
  }

  @Test
  void extend_neverCreates_andLastsFromNowOn() {
    assertThat(now(node.extend(entry("a", "r"), TTL))).isEqualTo(new ExtendReply.Missing());
    assertThat(database.holders("r")).isZero();

    now(node.grant(new GrantRequest(entry("a", "r"), 5_000, 5)));
    assertThat(now(node.extend(entry("a", "r"), TTL))).isEqualTo(new ExtendReply.Extended());
    Refused refused = (Refused) grant(entry("b", "r"), 6);
    assertThat(refused.holder().remaining().orElseThrow()).isGreaterThan(Duration.ofSeconds(5));
    assertThat(database.counter("r")).isEqualTo(5);

    now(node.release(entry("a", "r")));
    assertThat(now(node.extend(entry("a", "r"), TTL))).isEqualTo(new ExtendReply.Missing());
    assertThat(database.holders("r")).isZero();
  }

  @Test
  void repair_createsWhatIsMissing_andRaisesTheCounterToAtLeast() {
    assertThat(now(node.repair(entry("a", "r"), TTL, 20))).isEqualTo(new ExtendReply.Extended());
    assertThat(database.counter("r")).isEqualTo(20);
    assertThat(grant(entry("a", "r"), 99)).isEqualTo(new Granted(20));

    assertThat(now(node.repair(entry("a", "r"), TTL, 7))).isEqualTo(new ExtendReply.Extended());
    assertThat(database.counter("r")).isEqualTo(20);
    assertThat(now(node.repair(entry("a", "r"), TTL, 25))).isEqualTo(new ExtendReply.Extended());
    assertThat(database.counter("r")).isEqualTo(25);

    now(node.release(entry("a", "r")));
    assertThat(now(node.repair(entry("b", "r"), TTL, 1))).isEqualTo(new ExtendReply.Extended());
    assertThat(database.counter("r")).isEqualTo(25);
    assertThat(database.holders("r")).isEqualTo(1);
  }

  @Test
  void release_isIdempotent_andKeepsTheCounter() {
    grant(entry("a", "r"), 5);
    assertThat(now(node.release(entry("a", "r")))).isEqualTo(new ReleaseReply.Released());
    assertThat(now(node.release(entry("a", "r")))).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(now(node.release(entry("a", "never seen")))).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(database.holders("r")).isZero();
    assertThat(database.counter("r")).isEqualTo(5);
  }

  @Test
  void severalResources_areGrantedWithOneNumberAboveAll() {
    grant(entry("x", "b"), 30);
    now(node.release(entry("x", "b")));

    assertThat(grant(entry("a", "a", "b", "c"), 10)).isEqualTo(new Granted(31));
    for (String name : List.of("a", "b", "c")) {
      assertThat(database.counter(name)).as(name).isEqualTo(31);
    }
    assertThat(grant(entry("a", "a", "b", "c"), 99)).isEqualTo(new Granted(31));
  }

  @Test
  void severalResources_areGrantedAllOrNone() {
    grant(entry("x", "b"), 30);

    GrantReply reply = grant(entry("a", "a", "b", "c"), 40);

    assertThat(reply).isInstanceOf(Refused.class);
    assertThat(((Refused) reply).counter()).isEqualTo(30);
    assertThat(database.holders("a")).isZero();
    assertThat(database.holders("c")).isZero();
    assertThat(now(node.release(entry("a", "a", "b", "c")))).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(database.holders("b")).isEqualTo(1);
  }

  @Test
  void severalResources_areExtendedConfirmedAndRepairedAllOrNone() {
    LockEntry entry = entry("a", "a", "b", "c");
    assertThat(now(node.extend(entry, TTL))).isEqualTo(new ExtendReply.Missing());
    grant(entry, 10);
    assertThat(now(node.extend(entry, TTL))).isEqualTo(new ExtendReply.Extended());
    assertThat(now(node.confirm(entry, 10))).isEqualTo(new ConfirmReply.Higher(10));
    assertThat(now(node.confirm(entry, 12))).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(database.counter("c")).isEqualTo(12);

    database.expire("b");
    assertThat(now(node.extend(entry, TTL))).isEqualTo(new ExtendReply.Missing());
    assertThat(now(node.confirm(entry, 14))).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(database.counter("a")).isEqualTo(12);
    assertThat(now(node.repair(entry, TTL, 13))).isEqualTo(new ExtendReply.Extended());
    assertThat(database.holders("b")).isEqualTo(1);
    assertThat(database.counter("a")).isEqualTo(13);

    database.expire("b");
    grant(entry("thief", "b"), 50);
    assertThat(now(node.extend(entry, TTL))).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(now(node.repair(entry, TTL, 60))).isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(database.counter("a")).isEqualTo(13);
    assertThat(now(node.release(entry))).isEqualTo(new ReleaseReply.Released());
    assertThat(database.holders("a")).isZero();
    assertThat(database.holders("b")).isEqualTo(1);
  }

  @Test
  void readers_shareAmongEachOther_andExcludeWriters() {
    assertThat(node.capabilities()).contains(Capability.SHARED);
    assertThat(grant(reader("r1", "x"), 5)).isEqualTo(new Granted(5));
    assertThat(grant(reader("r2", "x"), 5)).isEqualTo(new Granted(6));
    assertThat(grant(reader("r1", "x"), 99)).isEqualTo(new Granted(5));
    GrantReply writer = grant(entry("w", "x"), 7);
    assertThat(writer).isInstanceOf(Refused.class);
    assertThat(((Refused) writer).holder().description()).contains("r");
    assertThat(grant(entry("w", "w", "x"), 7)).isInstanceOf(Refused.class);

    assertThat(now(node.release(reader("r1", "x")))).isEqualTo(new ReleaseReply.Released());
    assertThat(now(node.release(reader("r1", "x")))).isEqualTo(new ReleaseReply.NotHeld());
    assertThat(grant(entry("w", "x"), 7)).isInstanceOf(Refused.class);
    assertThat(now(node.release(reader("r2", "x")))).isEqualTo(new ReleaseReply.Released());
    assertThat(grant(entry("w", "x"), 7)).isEqualTo(new Granted(7));
    assertThat(grant(reader("r3", "x"), 8)).isInstanceOf(Refused.class);
  }

  @Test
  void readersEntries_areExtendedConfirmedRepairedAndExpire() {
    assertThat(now(node.extend(reader("r1", "x"), TTL))).isEqualTo(new ExtendReply.Missing());
    grant(reader("r1", "x"), 5);
    assertThat(now(node.extend(reader("r1", "x"), TTL))).isEqualTo(new ExtendReply.Extended());
    assertThat(now(node.confirm(reader("r1", "x"), 9))).isEqualTo(new ConfirmReply.Confirmed());
    assertThat(now(node.confirm(reader("r2", "x"), 10))).isEqualTo(new ConfirmReply.NotHeld());
    assertThat(now(node.repair(reader("r2", "x", "y"), TTL, 20)))
        .isEqualTo(new ExtendReply.Extended());
    assertThat(database.counter("x")).isEqualTo(20);
    assertThat(database.holders("x")).isEqualTo(2);
    assertThat(database.holders("y")).isEqualTo(1);
    assertThat(now(node.repair(entry("w", "x"), TTL, 30)))
        .isInstanceOf(ExtendReply.HeldByOther.class);

    database.expire("x");
    assertThat(now(node.extend(reader("r1", "x"), TTL))).isEqualTo(new ExtendReply.Missing());
    assertThat(grant(entry("w", "x"), 25)).isEqualTo(new Granted(25));
    assertThat(now(node.extend(reader("r1", "x"), TTL)))
        .isInstanceOf(ExtendReply.HeldByOther.class);
    assertThat(now(node.repair(reader("r1", "x"), TTL, 40)))
        .isInstanceOf(ExtendReply.HeldByOther.class);
  }

  @Test
  void aReaderWithAShorterTime_doesNotShortenTheOthers() {
    grant(reader("long", "x"), 5);
    now(node.grant(new GrantRequest(reader("short", "x"), 20, 6)));
    await().until(() -> database.holders("x") == 1);
    assertThat(grant(entry("w", "x"), 7)).isInstanceOf(Refused.class);
    assertThat(now(node.release(reader("long", "x")))).isEqualTo(new ReleaseReply.Released());
    assertThat(grant(entry("w", "x"), 7)).isEqualTo(new Granted(7));
  }

  @Test
  void aCounterThatIsGarbage_failsTheRequest_andChangesNothing() {
    for (String garbage : List.of("-1", "9007199254740992", "9223372036854775807")) {
      grant(entry("a", "r"), 5);
      now(node.release(entry("a", "r")));
      database.setCounter("r", garbage);

      assertThat(grant(entry("b", "r"), 6)).as(garbage).isInstanceOf(Failed.class);
      assertThat(((Failed) grant(entry("b", "r", "s"), 6)).detail()).contains("garbage");
      assertThat(grant(reader("b", "r"), 6)).isInstanceOf(Failed.class);
      assertThat(now(node.repair(entry("b", "r"), TTL, 6))).isInstanceOf(Failed.class);
      assertThat(database.holders("r")).isZero();
      assertThat(database.counter("r")).isEqualTo(Long.parseLong(garbage));
      assertThatThrownBy(() -> node.inspect("r").toCompletableFuture().join())
          .hasMessageContaining("garbage");
      database.update("DELETE FROM lukko_lock WHERE name = ?", "r");
    }
  }

  @Test
  void aHeldEntryWithAGarbageCounter_isNotConfirmed_butReleased() {
    grant(entry("a", "r"), 5);
    database.setCounter("r", "-7");
    assertThat(now(node.confirm(entry("a", "r"), 9))).isInstanceOf(Failed.class);
    assertThat(now(node.release(entry("a", "r")))).isEqualTo(new ReleaseReply.Released());
  }

  @Test
  void aCounterAtItsEnd_cannotRise() {
    long max = GrantRequest.MAX_COUNTER;
    assertThat(grant(entry("a", "r"), max)).isEqualTo(new Granted(max));
    now(node.release(entry("a", "r")));
    assertThat(((Failed) grant(entry("b", "r"), max)).detail()).contains("exhausted");
    assertThat(grant(entry("b", "r", "s"), 1)).isInstanceOf(Failed.class);
    assertThat(database.holders("r")).isZero();
  }

  @Test
  void aTtlBeyondAllMeasure_isForAWhile() {
    assertThat(now(node.grant(new GrantRequest(entry("a", "r"), Long.MAX_VALUE, 5))))
        .isEqualTo(new Granted(5));
    assertThat(grant(entry("b", "r"), 6)).isInstanceOf(Refused.class);
    assertThat(now(node.extend(entry("a", "r"), Long.MAX_VALUE)))
        .isEqualTo(new ExtendReply.Extended());
  }

  @Test
  void inspect_tellsHoldersAndCounter() {
    assertThat(now(node.inspect("r")).counter()).isEmpty();
    grant(entry("a", "r"), 5);
    Inspection held = now(node.inspect("r"));
    assertThat(held.counter()).hasValue(5);
    assertThat(held.holders()).hasSize(1);
    assertThat(held.ownerFingerprints()).containsExactly(OwnerValue.fingerprint("a"));
    now(node.release(entry("a", "r")));
    assertThat(now(node.inspect("r")).holders()).isEmpty();
    assertThat(now(node.inspect("r")).counter()).hasValue(5);
    grant(reader("r1", "r"), 6);
    grant(reader("r2", "r"), 7);
    assertThat(now(node.inspect("r")).holders()).hasSize(2);
  }

  @Test
  void status_tellsTheSameDatabaseByWhateverAddress() {
    try (JdbcNode again = database.node().name("another name").build();
        JdbcNode other = Databases.sqlite().node().build()) {
      NodeStatus status = now(node.status());
      assertThat(status.state()).isEqualTo(NodeStatus.State.VOTING);
      assertThat(status.identity()).isPresent().isEqualTo(now(again.status()).identity());
      assertThat(now(other.status()).identity()).isPresent().isNotEqualTo(status.identity());
      again.close();
      assertThat(now(again.status()).state()).isEqualTo(NodeStatus.State.UNREACHABLE);
    }
  }

  @Test
  void theSameDatabaseTwice_isRefusedAsAQuorum() {
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
  void afterClose_everythingFails_andNoThreadIsLeft() {
    JdbcNode closing = database.node().name("closing").build();
    LockEntry entry = entry("a", "r");
    now(closing.grant(new GrantRequest(entry, TTL, 5)));
    closing.close();
    closing.close();

    assertThat(now(closing.grant(new GrantRequest(entry, TTL, 5)))).isInstanceOf(Failed.class);
    assertThat(now(closing.release(entry))).isInstanceOf(Failed.class);
    assertThatThrownBy(() -> closing.inspect("r").toCompletableFuture().join())
        .hasMessageContaining("closed");
    node.close();
    await().untilAsserted(() -> assertThat(Threads.ofNodes()).isEmpty());
  }

  @Test
  void manyNodesOpenedAndClosed_leaveNoThread() {
    for (int i = 0; i < 20; i++) {
      try (JdbcNode one = database.node().name("n" + i).build()) {
        now(one.grant(new GrantRequest(entry("o" + i, "r" + i), TTL, 1)));
      }
    }
    node.close();
    await().untilAsserted(() -> assertThat(Threads.ofNodes()).isEmpty());
  }
}
