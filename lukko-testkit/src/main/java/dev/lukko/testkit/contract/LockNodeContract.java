package dev.lukko.testkit.contract;

import dev.lukko.spi.LockNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What every {@link LockNode} must do, as JUnit tests: extend it, and say how a node on your store
 * is opened.
 *
 * <pre>{@code
 * class MyNodeTest extends LockNodeContract {
 *   @Override
 *   protected StoreUnderTest openStore() {
 *     return () -> new MyNode(address);
 *   }
 * }
 * }</pre>
 *
 * <p>Tests that need more of the store than to be asked (a restart, a lost message, a clock that
 * can be moved) run if the store declares it, see {@link StoreTrait}; else they are reported as
 * skipped, and named with the reason on standard output when the suite is over. The same holds for
 * what the node's own {@linkplain LockNode#capabilities() capabilities} leave out. A store may be
 * shared by all tests, and may hold other entries: the tests use names that nobody else has. Only
 * the tests of a store that {@linkplain StoreTrait#FORGETS forgets} or {@linkplain StoreTrait#HANGS
 * hangs} must have it for themselves.
 *
 * <p>Beyond the rules of {@link LockNode}, the suite asks for ttls up to {@code Long.MAX_VALUE}
 * milliseconds, and sends up to {@value FaultRules#AT_ONCE} requests at once to a store that hangs:
 * a node that gives up one request after the other needs as many request timeouts for that.
 *
 * <p>Every wait has a bound; no test depends on how fast the store is.
 */
@ExtendWith(SkippedRules.class)
public abstract class LockNodeContract
    implements HoldingRules,
        TokenRules,
        NameRules,
        ExtendRules,
        SeveralRules,
        SharedRules,
        FairRules,
        WatchRules,
        StatusRules,
        RaceRules,
        FaultRules,
        CloseRules {

  private final List<LockNode> opened = new ArrayList<>();
  private @Nullable StoreUnderTest store;
  private @Nullable LockNode node;

  /** For subclasses. */
  protected LockNodeContract() {}

  /** Gives the store for one test; it is closed when the test is over. */
  protected abstract StoreUnderTest openStore() throws Exception;

  @BeforeEach
  final void openContract() throws Exception {
    store = openStore();
    node = openNode();
    Ask.admit(node);
  }

  @AfterEach
  final void closeContract() {
    try {
      opened.forEach(LockNode::close);
    } finally {
      if (store != null) {
        store.close();
      }
    }
  }

  /** The store of the test that runs. */
  @Override
  public final StoreUnderTest store() {
    return Objects.requireNonNull(store, "no test runs");
  }

  /** The first node of the test that runs; it votes. */
  @Override
  public final LockNode node() {
    return Objects.requireNonNull(node, "no test runs");
  }

  /** Opens one more node on the store of the test that runs; it is closed when the test is over. */
  @Override
  public final LockNode openNode() throws Exception {
    LockNode another = store().openNode();
    opened.add(another);
    return another;
  }
}
