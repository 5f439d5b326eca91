package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.lukko.LockNotAcquiredException;
import dev.lukko.LockRequest;
import dev.lukko.redis.testing.FaultBed;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServer;
import dev.lukko.testkit.rows.FaultRows;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What the rows of the project's table of fault scenarios have in common: five real servers, and a
 * ledger over all grants. Each row prints what it did and saw; times are printed, not asserted.
 */
abstract class ScenarioTest {
  static final Duration LONG = Duration.ofSeconds(30);

  final Ledger ledger = new Ledger();
  private final Consumer<RedisServer.Builder> options;
  FaultBed bed;

  ScenarioTest(Consumer<RedisServer.Builder> options) {
    this.options = options;
  }

  @BeforeEach
  void start() {
    bed = new FaultBed(ScenarioTest::connect, options);
  }

  @AfterEach
  void stop() {
    bed.close();
  }

  static List<RedisNode> connect(List<String> urls) {
    return RedisNode.builder().commandTimeout(Duration.ofSeconds(10)).connectAll(urls);
  }

  /** One round, then no more. */
  static LockRequest atOnce(Duration ttl) {
    return LockRequest.builder("r").ttl(ttl).maxWait(Duration.ZERO).build();
  }

  static LockRequest waiting(Duration ttl) {
    return LockRequest.builder("r")
        .ttl(ttl)
        .maxWait(Duration.ofMinutes(1))
        .waitForQuorum(true)
        .build();
  }

  static <E extends LockNotAcquiredException> E failure(
      Class<E> type, Redlock client, LockRequest request) {
    E failure = catchThrowableOfType(type, () -> client.acquire(request));
    assertThat(failure).isNotNull();
    return failure;
  }

  static void row(int number, String saw) {
    FaultRows.saw(number, saw);
  }

  static long millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }
}
