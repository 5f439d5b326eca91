package dev.lukko.redis;

import static dev.lukko.redis.testing.Requests.answer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockException;
import dev.lukko.LockNotAcquiredException;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Servers that forget: rows 28 to 31. None of the five writes to disk. Scale: ttl and quarantine 1
 * s; at least 300 grants for the 10,000 of row 28.
 */
class ForgetfulServersTest extends ScenarioTest {
  private static final Duration T = Duration.ofSeconds(1);

  private static String version(RedisServer server) {
    return String.valueOf(server.command("INFO", "server"))
        .lines()
        .filter(line -> line.startsWith("redis_version:"))
        .findFirst()
        .orElse("");
  }

  ForgetfulServersTest() {
    super(options -> {});
  }

  @FaultRow(28)
  @Test
  void row28_oneNodeRestartedEmpty_quarantinedThenVotes() {
    List<LockNode> nodes = bed.nodes("");
    List<Redlock> clients = List.of(bed.client(nodes, T, options -> {}), bed.client(T));
    ledger.close(ledger.acquire(clients.get(0), waiting(T)));
    bed.server(0).restart();
    int whileQuarantined = 0;
    boolean voting = false;
    for (int i = 0; i < 300 || !voting; i++) {
      ledger.close(ledger.acquire(clients.get(i % 2), waiting(T)));
      if (!voting) {
        boolean hasVoted = !bed.server(0).command("EXISTS", "lukko:{r}:token").equals(0L);
        NodeStatus status = answer(nodes.get(0).status());
        voting = status.state() == NodeStatus.State.VOTING;
        if (!voting) {
          assertThat(hasVoted).as("a vote of a node that is %s", status.describe()).isFalse();
          whileQuarantined++;
        }
      }
    }
    bed.awaitTold(bed.server(0), "quarantined for another ");
    Lease last = ledger.acquire(clients.get(0), waiting(LONG.dividedBy(60)));
    await().until(() -> last.owner().equals(bed.ownerAt(0)));
    ledger.close(last);
    row(
        28,
        "restarted empty ("
            + version(bed.server(0))
            + "): no vote during "
            + whileQuarantined
            + " grants of the others, then votes again; "
            + ledger.grants()
            + " tokens rose");
  }

  @FaultRow(29)
  @Test
  void row29_allRestartedEmpty_grantedAtOnceWithAHigherTokenUnlessStrict() {
    List<String> warnings = warningsOf("dev.lukko.redlock.Admission");
    Redlock client = bed.client(T);
    Redlock strict = bed.client(T, options -> options.strict(true));
    Lease before = ledger.acquire(client, waiting(T));
    ledger.close(before);
    warnings.clear();
    bed.servers.all().forEach(RedisServer::restart);
    Lease after = ledger.acquire(client, waiting(T));
    assertThat(warnings).filteredOn(text -> text.contains("new deployment")).hasSize(1);
    assertThat(after.fencingToken()).isGreaterThan(before.fencingToken());
    ledger.close(after);

    long start = System.nanoTime();
    bed.servers.all().forEach(RedisServer::restart);
    Lease patient = ledger.acquire(strict, waiting(T));
    long waited = (System.nanoTime() - start) / 1_000_000;
    assertThat(waited).as("nothing is granted for maxTtl").isGreaterThanOrEqualTo(T.toMillis());
    assertThat(patient.fencingToken()).isGreaterThan(after.fencingToken());
    ledger.close(patient);
    row(
        29,
        "all five restarted empty: granted at once with one warning and a higher token; in"
            + " strict mode after "
            + waited
            + " ms of a quarantine of 1000");
  }

  @FaultRow(30)
  @Test
  void row30_flushDuringAHold_ofOneIsRepairedOfThreeEndsIt() {
    Redlock first = bed.client(LONG);
    Redlock second = bed.client(LONG);
    Lease lease = ledger.acquire(first, waiting(LONG));
    bed.server(0).command("FLUSHALL");
    failure(LockNotAcquiredException.class, second, atOnce(LONG));
    await()
        .until(
            () -> {
              // The first one may still meet a server that has no record yet.
              assertThat(lease.extend(LONG)).isTrue();
              return lease.owner().equals(bed.ownerAt(0));
            });
    assertThat(lease.isValid()).isTrue();

    for (int i = 1; i < 4; i++) {
      bed.server(i).command("FLUSHALL");
    }
    assertThatThrownBy(() -> lease.extend(LONG)).isInstanceOf(LeaseLostException.class);
    assertThat(lease.isValid()).isFalse();
    ledger.ending(lease);
    lease.release();
    Lease next = ledger.acquire(second, waiting(LONG));
    ledger.close(next);
    row(
        30,
        "flushed at one: entry repaired with the next extension, no vote; flushed at three: the"
            + " extension failed at once, the next token is higher");
  }

  @FaultRow(31)
  @Test
  void row31_evictionPolicy_reportedAndInStrictModeRefused() {
    List<String> warnings = warningsOf("dev.lukko.redlock.Admission");
    bed.server(2).command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    bed.client(T);
    String node = "127.0.0.1:" + bed.proxy(2).port();
    assertThat(warnings)
        .anyMatch(text -> text.contains(node) && text.contains("maxmemory-policy is allkeys-lru"));
    assertThatThrownBy(() -> bed.client(T, options -> options.strict(true)))
        .isInstanceOf(LockException.class)
        .hasMessageContaining(node)
        .hasMessageContaining("maxmemory-policy is allkeys-lru");
    row(31, "an eviction policy is reported with node and policy, and refused in strict mode");
  }

  private final List<Handler> handlers = new ArrayList<>();

  @AfterEach
  void removeHandlers() {
    Logger logger = Logger.getLogger("");
    handlers.forEach(logger::removeHandler);
  }

  /** The warnings of a logger from now on. */
  private List<String> warningsOf(String logger) {
    List<String> texts = new CopyOnWriteArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord entry) {
            if (logger.equals(entry.getLoggerName())) {
              texts.add(new SimpleFormatter().formatMessage(entry));
            }
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    handlers.add(handler);
    Logger.getLogger("").addHandler(handler); // The root: no other logger is sure to be kept.
    return texts;
  }
}
