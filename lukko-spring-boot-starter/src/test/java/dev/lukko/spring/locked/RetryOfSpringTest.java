package dev.lukko.spring.locked;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.annotation.Locked;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.util.ClassUtils;

/** The retries of Spring Framework itself, since 7. */
class RetryOfSpringTest {

  @Test
  void eachRetryTakesTheLockAnew() {
    Assumptions.assumeTrue(
        ClassUtils.isPresent("org.springframework.resilience.annotation.Retryable", null),
        "Spring Framework 6 has no retries of its own");
    Contexts.with(MemoryLocks.class, Retried.class)
        .run(
            context -> {
              Retried bean = context.getBean(Retried.class);
              bean.work(null);
              assertThat(bean.tokens()).hasSize(3).doesNotHaveDuplicates();
            });
  }

  @EnableResilientMethods
  static class Retried {
    private final List<Long> tokens = new CopyOnWriteArrayList<>();

    public List<Long> tokens() {
      return tokens;
    }

    @Retryable(maxRetries = 3, delay = 1)
    @Locked(key = "'retried'", maxWait = "0s")
    public void work(@Nullable Lease lease) {
      tokens.add(lease.fencingToken());
      if (tokens.size() < 3) {
        throw new IllegalStateException("again");
      }
    }
  }
}
