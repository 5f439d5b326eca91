package dev.lukko.redlock;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.memory.InMemoryNode;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;

/**
 * Whatever threads do to a lease at the same time looks as if they had done it one after the other:
 * it is released once, lost once, never both, and never valid after either. Every interleaving of
 * small sets of calls is tried.
 */
public class LeaseStateLincheckTest {
  private final AtomicInteger losses = new AtomicInteger();
  private final Redlock client =
      Redlock.builder()
          .node(new InMemoryNode("n", StillTime.INSTANCE))
          .ticker(StillTime.INSTANCE)
          .scheduler(StillTime.INSTANCE)
          .description("test")
          .closeNodes(false)
          .build();
  private final Lease lease =
      client.acquireAsync(LockRequest.of("r", Duration.ofSeconds(10))).join();

  /** A held lease. */
  public LeaseStateLincheckTest() {
    lease.onLost(reason -> losses.incrementAndGet());
  }

  @Operation
  public String release() {
    return lease.releaseAsync().join().status().name();
  }

  @Operation
  public boolean isValid() {
    return lease.isValid();
  }

  @Operation
  public boolean extend() {
    try {
      return lease.extendAsync(Duration.ofSeconds(20)).join();
    } catch (CompletionException lost) {
      return false;
    }
  }

  /** By one thread only: another one's close returns while the first still works. */
  @Operation(nonParallelGroup = "close")
  public void close() {
    client.close();
  }

  @EnabledForJreRange(maxVersion = 17, disabledReason = "newer JDKs refuse the tool's agent")
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void isLinearizable() {
    new ModelCheckingOptions()
        .iterations(5)
        .invocationsPerIteration(100)
        .threads(2)
        .actorsPerThread(2)
        .actorsBefore(0)
        .actorsAfter(2)
        .loopBound(500) // The messages of errors are looked at letter by letter.
        .sequentialSpecification(OneAfterTheOther.class)
        .check(LeaseStateLincheckTest.class);
  }

  /** The same with one thread, as simple as can be. */
  public static class OneAfterTheOther {
    private boolean held = true;
    private String released = "";

    public String release() {
      if (released.isEmpty()) {
        released = held ? "RELEASED" : "NOT_HELD";
        held = false;
      }
      return released;
    }

    public boolean isValid() {
      return held;
    }

    public boolean extend() {
      return held;
    }

    public void close() {
      if (held) {
        held = false;
        released = "NOT_HELD";
      }
    }
  }
}
