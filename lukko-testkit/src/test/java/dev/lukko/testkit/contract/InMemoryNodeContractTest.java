package dev.lukko.testkit.contract;

class InMemoryNodeContractTest extends LockNodeContract {

  @Override
  protected StoreUnderTest openStore() {
    return new MemoryStore(node -> node);
  }
}
