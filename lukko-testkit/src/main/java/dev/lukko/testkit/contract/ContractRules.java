package dev.lukko.testkit.contract;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lukko.spi.Capability;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** What the rules about nodes share: the store, a node on it, and what may be asked of them. */
interface ContractRules {

  /** The store of this test. */
  StoreUnderTest store();

  /** The node of this test, which votes. */
  LockNode node();

  /** Opens one more node on the same store; it is closed after the test. */
  LockNode openNode() throws Exception;

  /** Skips the test, with the reason, if the store has not declared a trait. */
  default void require(StoreTrait trait) {
    assumeTrue(has(trait), trait.lack());
  }

  /** Skips the test, with the reason, if the node lacks a capability. */
  default void require(Capability capability) {
    assumeTrue(
        node().capabilities().contains(capability), "the node has no capability " + capability);
  }

  default boolean has(StoreTrait trait) {
    return store().traits().contains(trait);
  }

  /** Waits until an entry that was granted for {@link Ask#BRIEF_MILLIS} has ended. */
  default void letExpire(LockEntry entry) throws Exception {
    if (has(StoreTrait.MOVES_CLOCK)) {
      store().moveClock(Duration.ofMillis(Ask.BRIEF_MILLIS));
    }
    await("the entry " + entry + " has expired", () -> !Ask.holds(node(), entry));
  }

  /** Waits until a condition is true, as long as the store's patience lasts. */
  default void await(String condition, Callable<Boolean> holds) throws Exception {
    await(() -> condition, holds);
  }

  /** Waits until a condition is true; what is said of it is asked for at the end of the wait. */
  default void await(Supplier<String> condition, Callable<Boolean> holds) throws Exception {
    long startNanos = System.nanoTime();
    while (!holds.call()) {
      if (System.nanoTime() - startNanos > store().patience().toNanos()) {
        throw new AssertionError("not within " + store().patience() + ": " + condition.get());
      }
      LockSupport.parkNanos(1_000_000);
    }
  }
}
