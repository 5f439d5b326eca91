package dev.lukko.spring.locked;

import static dev.lukko.spring.Held.isHeld;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LeaseLostException;
import dev.lukko.LockBusyException;
import dev.lukko.LockClient;
import dev.lukko.LockRequest;
import dev.lukko.annotation.FencingToken;
import dev.lukko.annotation.LockResult;
import dev.lukko.annotation.Locked;
import dev.lukko.annotation.OnBusy;
import dev.lukko.spring.LockClientCustomizer;
import dev.lukko.testkit.ManualTime;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.AliasFor;

/** What {@link Locked} does to a call. */
class LockedTest {
  private static final Duration TTL = Duration.ofSeconds(10);

  private final ApplicationContextRunner application = Contexts.with(Invoices.class);

  @Test
  void bodyRunsUnderTheLockOfItsKeyAndTheLockIsFreeAfterwards() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Invoices invoices = context.getBean(Invoices.class);

          assertThat(invoices.bill(7, () -> isHeld(locks, "invoice:7"))).isTrue();
          assertThat(invoices.bill(7, () -> isHeld(locks, "invoice:8"))).isFalse();
          assertThat(isHeld(locks, "invoice:7")).isFalse();
        });
  }

  @Test
  void busyLockThrowsAndNeverRunsTheBody() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Invoices invoices = context.getBean(Invoices.class);
          try (Lease held = locks.acquire("invoice:7", TTL)) {
            assertThatThrownBy(() -> invoices.billAtOnce(7)).isInstanceOf(LockBusyException.class);
          }
          assertThat(invoices.billed()).isEmpty();
          invoices.billAtOnce(7);
          assertThat(invoices.billed()).containsExactly(7L);
        });
  }

  @Test
  void bodysExceptionReachesTheCallerAsItIsAndTheLockIsFree() {
    application.run(
        context -> {
          Invoices invoices = context.getBean(Invoices.class);
          IOException thrown = new IOException("disk full");

          assertThatThrownBy(() -> invoices.fail(7, thrown)).isSameAs(thrown);
          assertThat(isHeld(context.getBean(LockClient.class), "invoice:7")).isFalse();
        });
  }

  @Test
  void busyLockOfTheBodysOwnIsNoSkippedRun() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Invoices invoices = context.getBean(Invoices.class);
          try (Lease other = locks.acquire("other", TTL)) {
            assertThatThrownBy(
                    () ->
                        invoices.skippable(
                            () ->
                                locks.acquire(
                                    LockRequest.builder("other")
                                        .ttl(TTL)
                                        .maxWait(Duration.ZERO)
                                        .build())))
                .isInstanceOf(LockBusyException.class);
          }
        });
  }

  @Test
  void skippedRunIsToldFromOneThatRan() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Invoices invoices = context.getBean(Invoices.class);
          assertThat(invoices.skippable(() -> {})).isEqualTo(LockResult.ran("done"));
          try (Lease held = locks.acquire("nightly", TTL)) {
            LockResult<String> result = invoices.skippable(() -> invoices.billed().add(1L));
            assertThat(result).isInstanceOf(LockResult.Skipped.class);
            assertThat(((LockResult.Skipped<String>) result).busy().resources())
                .containsExactly("nightly");
            invoices.skippedInSilence();
          }
          assertThat(invoices.billed()).isEmpty();
        });
  }

  @Test
  void callbackTakesThePlaceOfTheBodyAndIsToldWhoHoldsTheLock() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Invoices invoices = context.getBean(Invoices.class);
          assertThat(invoices.reported("x")).isEqualTo("x ran");
          try (Lease held = locks.acquire("report", TTL)) {
            assertThat(invoices.reported("x")).isEqualTo("x busy [report]");
            assertThatThrownBy(() -> invoices.reportedAngrily())
                .isInstanceOf(IOException.class)
                .hasMessage("angry");
          }
        });
  }

  @Test
  void leaseAndTokenAreHandedToTheParametersThatWantThem() {
    application.run(
        context -> {
          Invoices invoices = context.getBean(Invoices.class);
          List<Object> seen = invoices.fenced(null, 5, 0);
          assertThat(seen.get(0)).isInstanceOf(Lease.class);
          assertThat(((Lease) seen.get(0)).resources()).containsExactly("account:5");
          assertThat(seen.get(1)).isEqualTo(((Lease) seen.get(0)).fencingToken());
        });
  }

  @Test
  void severalNamesAreOneLease() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Invoices invoices = context.getBean(Invoices.class);
          try (Lease held = locks.acquire("account:2", TTL)) {
            assertThatThrownBy(() -> invoices.transfer(1, 2, () -> true))
                .isInstanceOf(LockBusyException.class);
            assertThat(isHeld(locks, "account:1")).isFalse();
          }
          assertThat(
                  invoices.transfer(
                      1, 2, () -> isHeld(locks, "account:1") && isHeld(locks, "account:2")))
              .isTrue();
          assertThat(invoices.all(List.of(3L, 4L), () -> isHeld(locks, "account:4"))).isTrue();
        });
  }

  @Test
  void repeatedLocksAreAllTakenAndAllReleased() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Invoices invoices = context.getBean(Invoices.class);
          assertThat(invoices.twice(() -> isHeld(locks, "first") && isHeld(locks, "second")))
              .isTrue();
          try (Lease held = locks.acquire("second", TTL)) {
            assertThatThrownBy(() -> invoices.twice(() -> true))
                .isInstanceOf(LockBusyException.class);
          }
          assertThat(isHeld(locks, "first")).isFalse();
          assertThat(isHeld(locks, "second")).isFalse();
        });
  }

  @Test
  void annotationOfTheApplicationsOwnMayCarryTheLock() {
    application.run(
        context -> {
          LockClient locks = context.getBean(LockClient.class);
          Invoices invoices = context.getBean(Invoices.class);
          assertThat(invoices.composed(9, () -> isHeld(locks, "customer:9"))).isTrue();
        });
  }

  @Test
  void lockOfTheClassHoldsForItsMethodsUnlessTheyHaveTheirOwn() {
    Contexts.with(Ledger.class)
        .run(
            context -> {
              LockClient locks = context.getBean(LockClient.class);
              Ledger ledger = context.getBean(Ledger.class);
              assertThat(ledger.post(() -> isHeld(locks, "ledger"))).isTrue();
              assertThat(ledger.own(() -> isHeld(locks, "ledger"))).isFalse();
              assertThat(ledger.own(() -> isHeld(locks, "own"))).isTrue();
              assertThat(ledger.toString()).isEqualTo("free");
            });
  }

  @Test
  void lockOfAnInterfaceHoldsForItsImplementation() {
    Contexts.with(Posting.class)
        .withPropertyValues("spring.aop.proxy-target-class=false")
        .run(
            context -> {
              LockClient locks = context.getBean(LockClient.class);
              assertThat(context.getBean(Poster.class).post(() -> isHeld(locks, "poster")))
                  .isTrue();
            });
  }

  @Test
  void leaseThatWasLostWhileTheBodyRanIsAnError() {
    ManualTime time = new ManualTime();
    application
        .withBean(LockClientCustomizer.class, () -> builder -> builder.ticker(time).scheduler(time))
        .run(
            context -> {
              Invoices invoices = context.getBean(Invoices.class);
              assertThatThrownBy(() -> invoices.outlive(() -> time.advance(Duration.ofHours(1))))
                  .isInstanceOf(LeaseLostException.class);
              assertThat(invoices.billed()).containsExactly(4L);
            });
  }

  @Test
  void keyThatIsNullOrHasNoTextOfItsOwnIsRefusedBeforeTheBody() {
    application.run(
        context -> {
          Invoices invoices = context.getBean(Invoices.class);
          assertThatThrownBy(() -> invoices.byReference(null))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("'invoice:' + #reference: #reference is null");
          assertThatThrownBy(() -> invoices.byReference(new Object()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("java.lang.Object");
          UUID reference = UUID.randomUUID();
          assertThat(invoices.byReference(reference)).isEqualTo("ran");
          assertThatThrownBy(() -> invoices.all(List.of(), () -> true))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("gave no element");
        });
  }

  /** What a body does. */
  @FunctionalInterface
  interface Question {
    boolean ask();
  }

  @Retention(RetentionPolicy.RUNTIME)
  @Locked(key = "'customer:' + #id", ttl = "10s")
  @interface CustomerLocked {
    @AliasFor(annotation = Locked.class, attribute = "maxWait")
    String patience() default "";
  }

  static class Invoices {
    private final List<Long> billed = new ArrayList<>();

    public List<Long> billed() {
      return billed;
    }

    @Locked(key = "'invoice:' + #id", ttl = "10s")
    public boolean bill(long id, Question question) {
      return question.ask();
    }

    @Locked(key = "'invoice:' + #p0", ttl = "10s", maxWait = "0s")
    public void billAtOnce(long id) {
      billed.add(id);
    }

    @Locked(key = "'invoice:' + #id", ttl = "10s")
    public void fail(long id, Exception thrown) throws Exception {
      throw thrown;
    }

    @Locked(key = "'nightly'", onBusy = OnBusy.SKIP)
    public LockResult<String> skippable(Runnable work) {
      work.run();
      return LockResult.ran("done");
    }

    @Locked(key = "'nightly'", onBusy = OnBusy.SKIP)
    public void skippedInSilence() {
      billed.add(2L);
    }

    @Locked(key = "'report'", onBusy = OnBusy.CALLBACK, callback = "reportBusy")
    public String reported(String name) {
      return name + " ran";
    }

    private String reportBusy(String name, LockBusyException busy) {
      return name + " busy " + busy.resources();
    }

    @Locked(key = "'report'", onBusy = OnBusy.CALLBACK, callback = "angry")
    public void reportedAngrily() throws IOException {
      billed.add(3L);
    }

    void angry() throws IOException {
      throw new IOException("angry");
    }

    @Locked(key = "'account:' + #account")
    public List<Object> fenced(@Nullable Lease lease, long account, @FencingToken long token) {
      return List.of(lease, token);
    }

    @Locked(
        key = {"'account:' + #from", "'account:' + #to"},
        maxWait = "0s")
    public boolean transfer(long from, long to, Question question) {
      return question.ask();
    }

    @Locked(key = "#accounts.!['account:' + #this]")
    public boolean all(List<Long> accounts, Question question) {
      return question.ask();
    }

    @Locked(key = "'first'")
    @Locked(key = "'second'", maxWait = "0s")
    public boolean twice(Question question) {
      return question.ask();
    }

    @CustomerLocked(patience = "1s")
    public boolean composed(long id, Question question) {
      return question.ask();
    }

    @Locked(key = "'outlived'", autoExtend = false)
    public void outlive(Runnable work) {
      work.run();
      billed.add(4L);
    }

    @Locked(key = "'invoice:' + #reference")
    public String byReference(@Nullable Object reference) {
      return "ran";
    }
  }

  @Locked(key = "'ledger'")
  static class Ledger {
    public boolean post(Question question) {
      return question.ask();
    }

    @Locked(key = "'own'")
    public boolean own(Question question) {
      return question.ask();
    }

    @Override
    public String toString() {
      return "free";
    }
  }

  interface Poster {
    @Locked(key = "'poster'")
    boolean post(Question question);
  }

  static class Posting implements Poster {
    @Override
    public boolean post(Question question) {
      return question.ask();
    }
  }
}
