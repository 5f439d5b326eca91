package dev.lukko.testkit.contract;

import dev.lukko.memory.InMemoryNode;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.ManualTime;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.UnaryOperator;

/** A store in memory on a clock that the test moves; its nodes may have a defect. */
final class MemoryStore implements StoreUnderTest {
  private final ManualTime time = new ManualTime();
  private final InMemoryNode memory = new InMemoryNode("memory", time);
  private final UnaryOperator<LockNode> defect;

  MemoryStore(UnaryOperator<LockNode> defect) {
    this.defect = defect;
  }

  @Override
  public LockNode openNode() {
    return defect.apply(memory);
  }

  @Override
  public Set<StoreTrait> traits() {
    return EnumSet.of(
        StoreTrait.SEVERAL_RESOURCES,
        StoreTrait.TELLS_HOLDER,
        StoreTrait.MOVES_CLOCK,
        StoreTrait.FORGETS);
  }

  /** In memory everything happens at once. */
  @Override
  public Duration patience() {
    return Duration.ofSeconds(1);
  }

  @Override
  public void moveClock(Duration forward) {
    time.advance(forward);
  }

  @Override
  public void forget() {
    memory.forget();
  }
}
