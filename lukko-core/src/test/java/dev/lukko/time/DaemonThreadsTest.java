package dev.lukko.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DaemonThreadsTest {
  private static final InheritableThreadLocal<String> TENANT = new InheritableThreadLocal<>();

  @Test
  void threadMadeInATenantsThreadDoesNotInheritTheTenant() throws Exception {
    TENANT.set("a");
    try (Scheduler scheduler = Scheduler.create("lukko-daemon-threads-test")) {
      CompletableFuture<Optional<String>> inCallback = new CompletableFuture<>();
      CompletableFuture<Optional<String>> inTimer = new CompletableFuture<>();
      scheduler.execute(() -> inCallback.complete(Optional.ofNullable(TENANT.get())));
      scheduler.schedule(() -> inTimer.complete(Optional.ofNullable(TENANT.get())), 0);
      assertThat(inCallback.get(20, TimeUnit.SECONDS)).isEmpty();
      assertThat(inTimer.get(20, TimeUnit.SECONDS)).isEmpty();
    } finally {
      TENANT.remove();
    }
  }

  @Test
  void classLoaderIsThatOfTheThreadWhichMadeTheFactory() throws Exception {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    ClassLoader application = new ClassLoader(before) {};
    Thread.currentThread().setContextClassLoader(application);
    DaemonThreads threads;
    try {
      threads = new DaemonThreads("lukko-daemon-threads-test");
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
    Thread thread = threads.newThread(() -> {});
    assertThat(thread.isDaemon()).isTrue();
    assertThat(thread.getName()).isEqualTo("lukko-daemon-threads-test-1");
    assertThat(thread.getContextClassLoader()).isSameAs(application);
  }
}
