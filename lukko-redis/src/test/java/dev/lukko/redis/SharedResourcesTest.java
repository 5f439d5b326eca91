package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SharedResourcesTest {

  @Test
  void threadsOfTheDriverInheritNothingOfTheirFirstUser() throws Exception {
    InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
    Thread test = Thread.currentThread();
    ClassLoader before = test.getContextClassLoader();
    ThreadFactory threads = SharedResources.threads("lukko-redis-test");
    tenant.set("first");
    test.setContextClassLoader(new ClassLoader(before) {});
    try {
      CompletableFuture<String> seen = new CompletableFuture<>();
      Thread thread = threads.newThread(() -> seen.complete(String.valueOf(tenant.get())));
      assertThat(thread).isInstanceOf(FastThreadLocalThread.class);
      assertThat(thread.isDaemon()).isTrue();
      assertThat(thread.getContextClassLoader()).isSameAs(before);
      thread.start();
      assertThat(seen.get(20, TimeUnit.SECONDS)).isEqualTo("null");
      thread.join(20_000);
    } finally {
      test.setContextClassLoader(before);
      tenant.remove();
    }
  }
}
