package dev.lukko.own;

import dev.lukko.memory.InMemoryNode;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.ManualTime;
import dev.lukko.testkit.contract.LockNodeContract;
import dev.lukko.testkit.contract.StoreTrait;
import dev.lukko.testkit.contract.StoreUnderTest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/** The example of the guide on nodes of one's own: seen from outside, as its readers see it. */
// begin own-node
class OwnNodeTest extends LockNodeContract {

  @Override
  protected StoreUnderTest openStore() {
    return new OwnStore();
  }

  private static final class OwnStore implements StoreUnderTest {
    private final ManualTime time = new ManualTime();
    private final InMemoryNode server = new InMemoryNode("own", time); // stands for your server

    @Override
    public LockNode openNode() {
      return server; // here: new OwnNode(address)
    }

    @Override
    public Set<StoreTrait> traits() {
      return EnumSet.of(
          StoreTrait.SEVERAL_RESOURCES, StoreTrait.TELLS_HOLDER, StoreTrait.MOVES_CLOCK);
    }

    @Override
    public void moveClock(Duration forward) {
      time.advance(forward);
    }
  }
}
// end own-node
