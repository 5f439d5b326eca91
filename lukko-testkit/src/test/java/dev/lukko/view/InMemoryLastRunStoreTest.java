package dev.lukko.view;

import dev.lukko.schedule.LastRunStore;
import dev.lukko.testkit.LastRunStoreContract;
import dev.lukko.time.Ticker;

class InMemoryLastRunStoreTest extends LastRunStoreContract {
  @Override
  protected LastRunStore emptyStore() {
    return LastRunStore.inMemory(Ticker.system());
  }
}
