package dev.lukko.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.ClientClosedException;
import dev.lukko.Lease;
import dev.lukko.LockClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** The lock client ends behind those who use locks, and before what it uses. */
class ClientShutdownTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private final ApplicationContextRunner application =
      Applications.plain().withUserConfiguration(Parts.class);

  @Test
  void clientIsOpenWhileExecutorsStopAndClosedBeforeConnectionsEnd() {
    Map<String, Boolean> usable = new LinkedHashMap<>();
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          for (Part part : context.getBeansOfType(Part.class).values()) {
            part.atStop = () -> usable.put(part.name, isUsable(locks));
          }
        });
    assertThat(usable)
        .containsExactly(Map.entry("executors", true), Map.entry("connections", false));
  }

  @Test
  void taskThatRunsWhenTheApplicationEndsKeepsItsLeaseToTheEnd() throws Exception {
    CompletableFuture<Boolean> validToTheEnd = new CompletableFuture<>();
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch closing = new CountDownLatch(1);
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          context
              .getBean(ThreadPoolTaskScheduler.class)
              .execute(
                  () -> {
                    try (Lease held = locks.acquire("task", TTL)) {
                      running.countDown();
                      closing.await();
                      validToTheEnd.complete(held.isValid());
                    } catch (Exception failure) {
                      validToTheEnd.completeExceptionally(failure);
                    }
                  });
          context.getBean("executors", Part.class).atStop = closing::countDown;
          running.await();
        });
    assertThat(validToTheEnd).isCompletedWithValue(true);
  }

  @Test
  void contextThatIsStoppedAndStartedKeepsItsClient() {
    application.run(
        context -> {
          context.stop();
          context.start();
          assertThat(isUsable(context.getBean(LockClient.class))).isTrue();
        });
  }

  private static boolean isUsable(LockClient locks) {
    try (Lease held = locks.acquire("x", TTL)) {
      return held.isValid();
    } catch (ClientClosedException closed) {
      return false;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Parts {

    @Bean
    Part connections() {
      return new Part("connections", 0);
    }

    /** In the phase of executors, and so stopped at the same time. */
    @Bean
    Part executors() {
      return new Part("executors", ExecutorConfigurationSupport.DEFAULT_PHASE);
    }

    @Bean
    ThreadPoolTaskScheduler scheduler() {
      return new ThreadPoolTaskScheduler();
    }
  }

  static final class Part implements SmartLifecycle {
    private final String name;
    private final int phase;
    private volatile Runnable atStop = () -> {};
    private volatile boolean running;

    Part(String name, int phase) {
      this.name = name;
      this.phase = phase;
    }

    @Override
    public void start() {
      running = true;
    }

    @Override
    public void stop() {
      running = false;
      atStop.run();
    }

    @Override
    public boolean isRunning() {
      return running;
    }

    @Override
    public int getPhase() {
      return phase;
    }
  }
}
