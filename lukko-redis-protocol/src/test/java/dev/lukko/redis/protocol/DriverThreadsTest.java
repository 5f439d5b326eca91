package dev.lukko.redis.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.testkit.ManualTime;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What a driver's thread never does: it serves all locks of the process, so nothing that may take
 * time happens there, such as making a connection, which loads classes and reads files.
 *
 * <p>Here a thread of the driver is any code that does not run by {@link Scheduler#execute}.
 */
class DriverThreadsTest {
  private final ManualTime time = new ManualTime();
  private final List<Boolean> connectedElsewhere = new ArrayList<>();
  private boolean elsewhere;

  /** The scheduler of a driver: what is executed runs in a thread that may be blocked. */
  private final Scheduler threads =
      new Scheduler() {
        @Override
        public Timer schedule(Runnable task, long delayNanos) {
          return time.schedule(task, delayNanos);
        }

        @Override
        public void execute(Runnable task) {
          time.execute(
              () -> {
                elsewhere = true;
                try {
                  task.run();
                } finally {
                  elsewhere = false;
                }
              });
        }

        @Override
        public void close() {}
      };

  private final FakeConnector connector =
      new FakeConnector(() -> connectedElsewhere.add(elsewhere));

  @Test
  void firstWaitOfAProcessMakesItsConnectionElsewhere() {
    ReleaseHints hints = new ReleaseHints(connector::connectHints, "node", threads);
    hints.watch("channel", () -> {});
    time.advance(Duration.ofSeconds(5));
    assertThat(connectedElsewhere).hasSizeGreaterThan(2).doesNotContain(false);
    hints.close();
  }

  @Test
  void connectionForRequestsIsMadeElsewhereAlsoAfterItWasLost() {
    RedisLink link =
        new RedisLink(
            connector,
            false,
            null,
            threads,
            "node",
            "marker",
            Duration.ofSeconds(1),
            Duration.ofSeconds(10));
    link.connect();
    time.advance(Duration.ofSeconds(5));
    assertThat(connectedElsewhere).hasSizeGreaterThan(2).doesNotContain(false);
    link.close();
  }
}
