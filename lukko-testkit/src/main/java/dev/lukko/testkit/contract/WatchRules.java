package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.Capability;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode.Watch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Hints about releases. */
interface WatchRules extends ContractRules {

  @Test
  default void shouldTakeAndEndWatchesWhetherThereAreHintsOrNot() {
    Watch watch = node().watch(fresh("r"), () -> {});
    watch.close();
    watch.close();
    Ask.granted(node(), exclusive(fresh("owner"), fresh("r")), 1);
  }

  @Test
  default void shouldHintToWatchersOfOtherNodesWhenAResourceIsReleased() throws Exception {
    require(Capability.WATCH);
    String resource = fresh("r");
    AtomicInteger hints = new AtomicInteger();
    Watch watch = openNode().watch(resource, hints::incrementAndGet);
    try {
      for (int round = 0; round < 3; round++) {
        int before = hints.get();
        await(
            "a hint",
            () -> {
              LockEntry entry = exclusive(fresh("owner"), resource);
              Ask.granted(node(), entry, 1);
              Ask.released(node(), entry);
              return hints.get() > before;
            });
      }
    } finally {
      watch.close();
    }
  }

  @Test
  default void shouldHintTheRestWhenOneWatchHasEnded() throws Exception {
    require(Capability.WATCH);
    String resource = fresh("r");
    AtomicInteger ended = new AtomicInteger();
    AtomicInteger hints = new AtomicInteger();
    Watch endedWatch = node().watch(resource, ended::incrementAndGet);
    endedWatch.close();
    int afterEnd = ended.get();
    Watch watch = node().watch(resource, hints::incrementAndGet);
    try {
      int before = hints.get();
      await(
          "a hint",
          () -> {
            LockEntry entry = exclusive(fresh("owner"), resource);
            Ask.granted(node(), entry, 1);
            Ask.released(node(), entry);
            return hints.get() > before + 1;
          });
    } finally {
      watch.close();
    }
    assertThat(ended).hasValue(afterEnd);
  }
}
