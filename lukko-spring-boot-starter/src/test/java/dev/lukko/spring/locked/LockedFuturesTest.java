package dev.lukko.spring.locked;

import static dev.lukko.spring.Held.isHeld;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.ClientHealth;
import dev.lukko.Lease;
import dev.lukko.LockBusyException;
import dev.lukko.LockClient;
import dev.lukko.LockReport;
import dev.lukko.LockRequest;
import dev.lukko.annotation.BusyAnswer;
import dev.lukko.annotation.FencingToken;
import dev.lukko.annotation.LockResult;
import dev.lukko.annotation.Locked;
import dev.lukko.annotation.OnBusy;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Methods whose work goes on after their return keep the lock to its end. */
class LockedFuturesTest {
  private static final Duration BOUND = Duration.ofSeconds(10);

  private final ApplicationContextRunner application = Contexts.with(MemoryLocks.class, Work.class);

  @Test
  void stageKeepsTheLockToItsEnd() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          CompletableFuture<String> body = new CompletableFuture<>();
          CompletableFuture<String> result = context.getBean(Work.class).stage(body);
          assertThat(isHeld(locks, "stage")).isTrue();
          assertThat(result).isNotDone();
          body.complete("done");
          assertThat(result).succeedsWithin(BOUND).isEqualTo("done");
          assertThat(isHeld(locks, "stage")).isFalse();
        });
  }

  @Test
  void failureOfAStageIsTheBodysOwnAndFreesTheLock() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          IOException thrown = new IOException("no");
          CompletableFuture<String> failed = CompletableFuture.failedFuture(thrown);
          assertThat(context.getBean(Work.class).stage(failed))
              .failsWithin(BOUND)
              .withThrowableThat()
              .havingCause()
              .isSameAs(thrown);
          assertThat(isHeld(locks, "stage")).isFalse();
        });
  }

  @Test
  void busyLockFailsTheStageAndNeverRunsTheBody() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Work work = context.getBean(Work.class);
          try (Lease held = locks.acquire("stage", BOUND)) {
            assertThat(work.stage(new CompletableFuture<>()))
                .failsWithin(BOUND)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockBusyException.class);
            assertThat(work.skippedStage())
                .succeedsWithin(BOUND)
                .isInstanceOf(LockResult.Skipped.class);
          }
          assertThat(work.ran()).isEmpty();
        });
  }

  @Test
  void cancelledStageKeepsTheLockWhileTheWorkGoesOn() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          CompletableFuture<String> body = new CompletableFuture<>();
          CompletableFuture<String> result = context.getBean(Work.class).stage(body);
          result.cancel(true);
          assertThat(isHeld(locks, "stage")).isTrue();
          body.complete("late");
          await().until(() -> !isHeld(locks, "stage"));
        });
  }

  @Test
  void nothingIsLockedBeforeSomebodySubscribes() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Work work = context.getBean(Work.class);
          Mono<Long> mono = work.mono(Mono.just("x"), 0);
          assertThat(isHeld(locks, "mono")).isFalse();
          assertThat(work.ran()).isEmpty();

          Long first = mono.block(BOUND);
          Long second = mono.block(BOUND);
          assertThat(first).isPositive();
          assertThat(second).isGreaterThan(first);
          assertThat(work.ran()).hasSize(2);
          assertThat(isHeld(locks, "mono")).isFalse();
        });
  }

  @Test
  void publisherKeepsTheLockToItsEnd() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Sinks.Many<String> body = Sinks.many().unicast().onBackpressureBuffer();
          List<String> seen = new ArrayList<>();
          AtomicReference<Boolean> ended = new AtomicReference<>(false);
          context
              .getBean(Work.class)
              .flux(body.asFlux())
              .subscribe(seen::add, failure -> {}, () -> ended.set(true));
          await().until(() -> body.currentSubscriberCount() == 1);
          body.tryEmitNext("one");
          assertThat(isHeld(locks, "flux")).isTrue();
          assertThat(ended.get()).isFalse();
          body.tryEmitComplete();
          await().until(ended::get);
          assertThat(seen).containsExactly("one");
          assertThat(isHeld(locks, "flux")).isFalse();
        });
  }

  @Test
  void subscriberThatGoesAwayFreesTheLock() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Work work = context.getBean(Work.class);
          Sinks.Many<String> body = Sinks.many().unicast().onBackpressureBuffer();
          Disposable subscription = work.flux(body.asFlux()).subscribe();
          await().until(() -> body.currentSubscriberCount() == 1);
          assertThat(isHeld(locks, "flux")).isTrue();
          subscription.dispose();
          await().until(() -> !isHeld(locks, "flux"));
        });
  }

  @Test
  void subscriberThatGoesAwayWhileItWaitsLeavesNothing() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Work work = context.getBean(Work.class);
          try (Lease held = locks.acquire("flux", BOUND)) {
            for (int i = 0; i < 20; i++) {
              work.flux(Flux.never()).subscribe().dispose();
            }
          }
          await().until(() -> !isHeld(locks, "flux"));
          assertThat(work.ran()).isEmpty();
        });
  }

  @Test
  void leaseThatArrivesInTheMomentOfTheCancellationIsReleased() {
    try (LockClient locks = Redlock.over(new InMemoryNode())) {
      CompletableFuture<Lease> granted =
          new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterrupt) {
              return false; // The grant has come first.
            }
          };
      LockClient late = granting(granted, locks);
      LockRequest request = LockRequest.of("late", BOUND);
      Disposable subscription =
          Flux.from(
                  Publishers.locked(
                      Flux.class, late, request, BusyAnswer.rethrow(), lease -> Flux.never()))
              .subscribe();
      subscription.dispose();
      granted.complete(locks.acquire(request));
      await().until(() -> !isHeld(locks, "late"));
    }
  }

  /** A client that has one grant to give. */
  private static LockClient granting(CompletableFuture<Lease> grant, LockClient locks) {
    return new LockClient() {
      @Override
      public Lease acquire(LockRequest request) {
        return locks.acquire(request);
      }

      @Override
      public CompletableFuture<Lease> acquireAsync(LockRequest request) {
        return grant;
      }

      @Override
      public LockReport inspect(String resource) {
        return locks.inspect(resource);
      }

      @Override
      public ClientHealth health() {
        return locks.health();
      }

      @Override
      public void close() {}
    };
  }

  @Test
  void busyLockIsAnErrorOrASkippedRunOfThePublisher() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Work work = context.getBean(Work.class);
          try (Lease held = locks.acquire("mono", BOUND)) {
            assertThat(work.mono(Mono.just("x"), 0).toFuture())
                .failsWithin(BOUND)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockBusyException.class);
            assertThat(work.skippedMono().toFuture())
                .succeedsWithin(BOUND)
                .isInstanceOf(LockResult.Skipped.class);
          }
          assertThat(work.ran()).isEmpty();
          assertThat(work.skippedMono().block(BOUND)).isEqualTo(LockResult.ran("x"));
        });
  }

  @Test
  void errorOfAPublisherIsTheBodysOwnAndFreesTheLock() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          IOException thrown = new IOException("no");
          assertThat(context.getBean(Work.class).mono(Mono.error(thrown), 0).toFuture())
              .failsWithin(BOUND)
              .withThrowableThat()
              .havingCause()
              .isSameAs(thrown);
          await().until(() -> !isHeld(locks, "mono"));
        });
  }

  static class Work {
    private final List<Object> ran = new CopyOnWriteArrayList<>();

    public List<Object> ran() {
      return ran;
    }

    @Locked(key = "'stage'", maxWait = "0s")
    public CompletableFuture<String> stage(CompletableFuture<String> body) {
      ran.add(body);
      return body;
    }

    @Locked(key = "'stage'", onBusy = OnBusy.SKIP)
    public CompletableFuture<LockResult<String>> skippedStage() {
      ran.add("skipped");
      return CompletableFuture.completedFuture(LockResult.ran("x"));
    }

    @Locked(key = "'mono'", maxWait = "0s")
    public Mono<Long> mono(Mono<String> body, @FencingToken long token) {
      ran.add(body);
      return body.map(text -> token);
    }

    @Locked(key = "'mono'", onBusy = OnBusy.SKIP)
    public Mono<LockResult<String>> skippedMono() {
      return Mono.just(LockResult.ran("x"));
    }

    @Locked(key = "'flux'", maxWait = "10s")
    public Flux<String> flux(Flux<String> body) {
      ran.add(body);
      return body;
    }
  }
}
