package dev.lukko.testkit.contract;

import dev.lukko.spi.LockNode;

/** The contract on a node in memory that has a defect. */
abstract class DefectContract extends LockNodeContract {

  /** The node with its defect. */
  abstract LockNode broken(LockNode memory);

  @Override
  protected final StoreUnderTest openStore() {
    return new MemoryStore(this::broken);
  }
}
