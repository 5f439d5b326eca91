package dev.lukko.testkit.contract;

import dev.lukko.spi.LockNode;
import java.time.Duration;
import java.util.Set;

/**
 * A store that {@link LockNodeContract} tests: it makes nodes, and faults on request.
 *
 * <p>Each test gets one of these and closes it. The store behind it may be the same for many tests:
 * every test uses names of its own. Only {@link #openNode} must be implemented; each of the other
 * methods belongs to a {@link StoreTrait} and is called only if that is declared. All of them run
 * in the thread of the test.
 */
public interface StoreUnderTest extends AutoCloseable {

  /**
   * Opens a node on the store, as one more client would have it. The test closes it.
   *
   * <p>A store that {@linkplain StoreTrait#HANGS hangs} needs nodes whose own limit of time is
   * short, for the tests wait for it.
   */
  LockNode openNode() throws Exception;

  /**
   * Opens a node on the same store under a name that somebody has given it. Needs {@link
   * StoreTrait#NAMES_NODES}.
   */
  default LockNode openNode(String name) throws Exception {
    throw undeclared(StoreTrait.NAMES_NODES);
  }

  /** What is declared; nothing by default. The node declares its own capabilities besides. */
  default Set<StoreTrait> traits() {
    return Set.of();
  }

  /** How long a test waits for what must happen in the end; 40 s by default. */
  default Duration patience() {
    return Duration.ofSeconds(40);
  }

  /** Moves the store's clock on, and no other. Needs {@link StoreTrait#MOVES_CLOCK}. */
  default void moveClock(Duration forward) throws Exception {
    throw undeclared(StoreTrait.MOVES_CLOCK);
  }

  /**
   * Overwrites the counter of a resource behind the node's back. Needs {@link
   * StoreTrait#SETS_COUNTER}.
   *
   * @param text a number in range or not, or no number at all
   * @return false if the store cannot hold such a text in this place, and nothing was done
   */
  default boolean setCounter(String resource, String text) throws Exception {
    throw undeclared(StoreTrait.SETS_COUNTER);
  }

  /**
   * Ends the store and starts it again at the same address, as a crash of its process does; returns
   * when it answers. Needs {@link StoreTrait#RESTARTS}.
   */
  default void restart() throws Exception {
    throw undeclared(StoreTrait.RESTARTS);
  }

  /**
   * Takes everything from the store: entries, counters, records. Needs {@link StoreTrait#FORGETS}.
   */
  default void forget() throws Exception {
    throw undeclared(StoreTrait.FORGETS);
  }

  /**
   * Breaks the connection of the next request that contains a text, before it reaches the store.
   * Needs {@link StoreTrait#LOSES_MESSAGES}, as {@link #loseReply} does.
   */
  default void loseRequest(String text) throws Exception {
    throw undeclared(StoreTrait.LOSES_MESSAGES);
  }

  /** Breaks the connection of the next request that contains a text, in front of its reply. */
  default void loseReply(String text) throws Exception {
    throw undeclared(StoreTrait.LOSES_MESSAGES);
  }

  /**
   * Lets the store hang until {@link #resume}: it takes requests, answers none, and applies them
   * later. Needs {@link StoreTrait#HANGS}.
   */
  default void hang() throws Exception {
    throw undeclared(StoreTrait.HANGS);
  }

  /** Ends {@link #hang}; nothing happens if the store does not hang. */
  default void resume() throws Exception {
    throw undeclared(StoreTrait.HANGS);
  }

  /**
   * How many connections of nodes the store has now. Needs {@link StoreTrait#COUNTS_CONNECTIONS}.
   */
  default int connections() throws Exception {
    throw undeclared(StoreTrait.COUNTS_CONNECTIONS);
  }

  /**
   * Whether a thread that has appeared while a node was open belongs to it, and must be gone when
   * the last node is closed. By default each does that is not one of the Java platform's own; a
   * driver that keeps a thread for the whole process has to be excepted.
   */
  default boolean isOfNode(Thread thread) {
    return !Threads.isOfPlatform(thread);
  }

  /** Ends whatever was started for this test. */
  @Override
  default void close() {}

  private static UnsupportedOperationException undeclared(StoreTrait trait) {
    return new UnsupportedOperationException(trait + " is declared, but its method is missing");
  }
}
