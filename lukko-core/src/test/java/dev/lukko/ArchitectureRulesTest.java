package dev.lukko;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import dev.lukko.architecture.ArchitectureRules;
import dev.lukko.architecture.left.Left;
import dev.lukko.architecture.right.Right;
import dev.lukko.text.PrintableAddress;
import dev.lukko.time.DaemonThreads;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each architecture rule must be able to fail: here it meets a class that breaks it. */
class ArchitectureRulesTest {

  @ParameterizedTest
  @ValueSource(
      classes = {
        WallClock.class,
        NanoClock.class,
        NanoClockByReference.class,
        InstantNow.class,
        SystemClock.class,
        Sleeper.class,
        ThreadMaker.class,
        ThreadHeir.class,
        TimerMaker.class,
        PoolMaker.class,
        PoolOfTheJdksThreads.class,
        CommonPool.class,
        TimedFuture.class,
        DefaultedFuture.class,
        DelayedFuture.class,
        PooledFuture.class,
        PooledStage.class,
      })
  void clockOrThreadOfTheJdkOutsideTimeIsRefused(Class<?> offender) {
    assertThat(violated(ArchitectureRules.noClockOrThreadOutside("dev.lukko.time.."), offender))
        .isTrue();
  }

  @Test
  void clockOrThreadInsideTheTimePackageIsAllowed() {
    assertThat(violated(ArchitectureRules.noClockOrThreadOutside("dev.lukko"), NanoClock.class))
        .isFalse();
  }

  @Test
  void asynchronousStageWithItsOwnExecutorIsAllowed() {
    assertThat(
            violated(
                ArchitectureRules.noClockOrThreadOutside("dev.lukko.time.."), OwnExecutor.class))
        .isFalse();
  }

  @Test
  void poolThatIsGivenItsThreadsIsAllowed() {
    assertThat(
            violated(
                ArchitectureRules.noClockOrThreadOutside("dev.lukko.time.."),
                PoolOfOurThreads.class))
        .isFalse();
  }

  @Test
  void dependencyOnAPackageThatIsNotListedIsRefused() {
    assertThat(violated(ArchitectureRules.mayKnow("dev.lukko.none", "dev.lukko"), Knower.class))
        .as("a class of another package is none of the rule's business")
        .isFalse();
    assertThat(
            violated(
                ArchitectureRules.mayKnow("dev.lukko.architecture.left", "dev.lukko.spi.."),
                Left.class))
        .isTrue();
    assertThat(
            violated(
                ArchitectureRules.mayKnow(
                    "dev.lukko.architecture.left", "dev.lukko.architecture.right"),
                Left.class))
        .isFalse();
  }

  @Test
  void packagesThatKnowEachOtherAreRefused() {
    assertThat(violated(ArchitectureRules.packagesAreFreeOfCycles(), Left.class, Right.class))
        .isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        Signatures.HiddenResult.class,
        Signatures.HiddenParameter.class,
        Signatures.HiddenTypeArgument.class,
        Signatures.HiddenException.class,
        Signatures.HiddenField.class,
      })
  void publicSignatureWithATypeThatCallersCannotSeeIsRefused(Class<?> offender) {
    assertThat(violated(ArchitectureRules.publicSignaturesNameOnlyPublicTypes(), offender))
        .isTrue();
  }

  @Test
  void hiddenTypesBehindAPublicSignatureAreAllowed() {
    assertThat(
            violated(
                ArchitectureRules.publicSignaturesNameOnlyPublicTypes(), Signatures.Clean.class))
        .isFalse();
  }

  @Test
  void dependencyOnAModuleThatIsNotListedIsRefused() {
    assertThat(violated(ArchitectureRules.knowOnlyThePackages(Set.of("dev.lukko")), Knower.class))
        .isTrue();
    assertThat(
            violated(
                ArchitectureRules.knowOnlyThePackages(
                    Set.of("dev.lukko", "dev.lukko.architecture.left")),
                Knower.class))
        .isFalse();
  }

  @Test
  void packageWhereNothingIsSaidOfNullIsRefused() {
    assertThat(violated(ArchitectureRules.packagesAreNullMarked(), Left.class)).isTrue();
    assertThat(
            ArchitectureRules.packagesAreNullMarked()
                .evaluate(new ClassFileImporter().importPackages("dev.lukko.text"))
                .hasViolation())
        .isFalse();
  }

  @ParameterizedTest
  @ValueSource(classes = {UriReader.class, UrlReader.class, ByReference.class})
  void addressThatIsReadByOthersAndNotMadePrintableIsRefused(Class<?> offender) {
    assertThat(violated(ArchitectureRules.addressesAreMadePrintable(), offender)).isTrue();
  }

  @Test
  void addressThatIsReadByOthersAndMadePrintableIsAllowed() {
    assertThat(violated(ArchitectureRules.addressesAreMadePrintable(), CarefulReader.class))
        .isFalse();
  }

  @Test
  void classThatPrintsIsRefused() {
    assertThat(violated(ArchitectureRules.nothingIsPrinted(), Printer.class)).isTrue();
    assertThat(violated(ArchitectureRules.nothingIsPrinted(), Knower.class)).isFalse();
  }

  private static boolean violated(ArchRule rule, Class<?>... classes) {
    return rule.evaluate(new ClassFileImporter().importClasses(classes)).hasViolation();
  }

  static final class Knower {
    final Object known = new Left();
  }

  static final class UriReader {
    URI read(String address) {
      return URI.create(address);
    }
  }

  static final class UrlReader {
    URL read(String address) throws MalformedURLException {
      return new URL(address);
    }
  }

  static final class ByReference {
    final Function<String, URI> read = URI::create;
  }

  static final class CarefulReader {
    String hostOf(String address) {
      try {
        return URI.create(address).getHost();
      } catch (IllegalArgumentException unreadable) {
        return PrintableAddress.of(address);
      }
    }
  }

  static final class Printer {
    void say() {
      System.out.println("held");
    }
  }

  static final class WallClock {
    long read() {
      return System.currentTimeMillis();
    }
  }

  static final class NanoClock {
    long read() {
      return System.nanoTime();
    }
  }

  static final class NanoClockByReference {
    final LongSupplier ticker = System::nanoTime;
  }

  static final class InstantNow {
    Instant read() {
      return Instant.now();
    }
  }

  static final class SystemClock {
    final Clock clock = Clock.systemUTC();
  }

  static final class Sleeper {
    void pause() throws InterruptedException {
      Thread.sleep(Duration.ofMillis(1).toMillis());
    }
  }

  static final class ThreadMaker {
    Thread make(Runnable task) {
      return new Thread(task, "lukko-test");
    }
  }

  static final class ThreadHeir extends Thread {}

  static final class TimerMaker {
    Timer make() {
      return new Timer(true);
    }
  }

  static final class PoolMaker {
    ExecutorService make() {
      return Executors.newSingleThreadExecutor();
    }
  }

  static final class PoolOfTheJdksThreads {
    ExecutorService make() {
      return new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
    }
  }

  static final class PoolOfOurThreads {
    ExecutorService make() {
      return new ThreadPoolExecutor(
          1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), new DaemonThreads("lukko-test"));
    }
  }

  static final class CommonPool {
    final ForkJoinPool pool = ForkJoinPool.commonPool();
  }

  static final class TimedFuture {
    CompletableFuture<String> time(CompletableFuture<String> future) {
      return future.orTimeout(1, TimeUnit.SECONDS);
    }
  }

  static final class DefaultedFuture {
    CompletableFuture<String> time(CompletableFuture<String> future) {
      return future.completeOnTimeout("late", 1, TimeUnit.SECONDS);
    }
  }

  static final class DelayedFuture {
    final Executor executor = CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS);
  }

  static final class PooledFuture {
    CompletableFuture<String> start() {
      return CompletableFuture.supplyAsync(() -> "pooled");
    }
  }

  static final class PooledStage {
    CompletionStage<String> then(CompletionStage<String> stage) {
      return stage.thenApplyAsync(value -> value);
    }
  }

  static final class OwnExecutor {
    CompletableFuture<String> then(CompletableFuture<String> future, Executor executor) {
      return future.thenApplyAsync(value -> value, executor);
    }
  }
}
