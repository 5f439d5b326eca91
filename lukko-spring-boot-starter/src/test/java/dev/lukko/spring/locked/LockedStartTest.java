package dev.lukko.spring.locked;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.annotation.FencingToken;
import dev.lukko.annotation.Locked;
import dev.lukko.annotation.OnBusy;
import jakarta.annotation.PostConstruct;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.Transactional;

/** Locks that would never be taken, or not as meant, are reported when the application starts. */
class LockedStartTest {

  static Stream<Arguments> faults() {
    return Stream.of(
        fault(PrivateMethod.class, "it is private"),
        fault(StaticMethod.class, "it is static"),
        fault(FinalMethod.class, "it is final"),
        fault(FinalMethodOfLockedClass.class, "it is final"),
        fault(AtTheStart.class, "before the bean is surrounded"),
        fault(OwnCall.class, "OwnCall.all -> one"),
        fault(OwnCallInLambda.class, "-> one"),
        fault(OwnCallByReference.class, "OwnCallByReference.all -> one"),
        fault(OwnCallOfTheBase.class, "CallingBase.all -> one"),
        fault(OwnCallWithBranches.class, "OwnCallWithBranches.all -> one"),
        fault(SkippedValue.class, "onBusy is SKIP and it gives a java.lang.String"),
        fault(SkippedNumber.class, "onBusy is SKIP and it gives a int"),
        fault(SkippedStage.class, "onBusy is SKIP and it gives a java.lang.String"),
        fault(NoCallback.class, "callback is \"\""),
        fault(CallbackOfAnotherType.class, "it must return java.lang.String"),
        fault(CallbackThatThrows.class, "which throws java.lang.Exception"),
        fault(CallbackInVain.class, "onBusy must be CALLBACK"),
        fault(UnknownParameter.class, "#idd is no parameter of the method, which has [a0, id,"),
        fault(Unquoted.class, "a text stands in single quotes"),
        fault(Malformed.class, "it must be an expression"),
        fault(NoKey.class, "key has no expression"),
        fault(NoDuration.class, "ttl is \"soon\"; it must be a duration such as"),
        fault(NoTtl.class, "ttl is PT0S; it must be at least 1 ms"),
        fault(NegativeWait.class, "maxWait is PT-1S; it must not be negative"),
        fault(PlainFuture.class, "returns java.util.concurrent.Future"),
        fault(LazyStream.class, "returns java.util.stream.Stream"),
        fault(Later.class, "returns java.util.function.Supplier"),
        fault(TokenOfAnotherType.class, "@FencingToken and the type java.lang.String"),
        fault(LeaseOfWhichLock.class, "it has 2 locks"));
  }

  private static Arguments fault(Class<?> bean, String message) {
    return Arguments.of(bean, message);
  }

  @ParameterizedTest
  @MethodSource("faults")
  void faultIsReported(Class<?> bean, String message) {
    Contexts.with(MemoryLocks.class, bean)
        .run(
            context ->
                assertThat(causes(context.getStartupFailure()))
                    .contains(message)
                    .contains("@Locked"));
  }

  private static String causes(Throwable failure) {
    StringBuilder all = new StringBuilder();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      all.append(cause.getMessage()).append('\n');
    }
    return all.toString();
  }

  @Test
  void lockInsideOfATransactionIsReported() {
    Contexts.with(Database.class, MemoryLocks.class, Transactions.class, Posting.class)
        .run(
            context ->
                assertThat(causes(context.getStartupFailure()))
                    .contains("Posting.post()")
                    .contains("its transaction begins before the lock is taken"));
  }

  @Test
  void lockOnAnInterfaceThatIsImplementedAtRunTimeIsReported() {
    Contexts.with(MemoryLocks.class, Made.class)
        .run(
            context ->
                assertThat(causes(context.getStartupFailure()))
                    .contains("put the lock on a class that uses it"));
  }

  @Test
  void methodThatIsNotInTheInterfacesOfItsProxyIsReported() {
    Contexts.with(MemoryLocks.class, Hidden.class)
        .withPropertyValues("spring.aop.proxy-target-class=false")
        .run(
            context ->
                assertThat(causes(context.getStartupFailure()))
                    .contains("none of them has this method"));
  }

  @Test
  void ownCallsMayBeAllowed() {
    ApplicationContextRunner application = Contexts.with(MemoryLocks.class, OwnCall.class);
    application
        .withPropertyValues("lukko.self-invocation=warn")
        .run(context -> assertThat(context).hasNotFailed());
    application
        .withPropertyValues("lukko.self-invocation=ignore")
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void callsOfAnotherObjectOfTheClassAreNoOwnCalls() {
    Contexts.with(MemoryLocks.class, CallsAnother.class, CallsSuper.class)
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void durationsAndKeysMayComeFromTheConfiguration() {
    Contexts.with(MemoryLocks.class, Configured.class)
        .withPropertyValues("billing.ttl=20s", "billing.name=nightly")
        .run(
            context ->
                assertThat(context.getBean(Configured.class).work(null)).isEqualTo("nightly"));
  }

  static class PrivateMethod {
    @Locked(key = "'x'")
    private void work() {}
  }

  static class StaticMethod {
    @Locked(key = "'x'")
    static void work() {}
  }

  static class FinalMethod {
    @Locked(key = "'x'")
    public final void work() {}
  }

  @Locked(key = "'x'")
  static class FinalMethodOfLockedClass {
    public final void work() {}
  }

  static class AtTheStart {
    @PostConstruct
    @Locked(key = "'x'")
    public void work() {}
  }

  static class OwnCall {
    public void all() {
      one(1);
    }

    @Locked(key = "#id")
    public void one(long id) {}
  }

  static class OwnCallInLambda {
    public Runnable all() {
      return () -> one(1);
    }

    @Locked(key = "#id")
    public void one(long id) {}
  }

  static class OwnCallByReference {
    public Runnable all() {
      return this::one;
    }

    @Locked(key = "'x'")
    public void one() {}
  }

  abstract static class CallingBase {
    public void all() {
      one();
    }

    public abstract void one();
  }

  static class OwnCallOfTheBase extends CallingBase {
    @Override
    @Locked(key = "'x'")
    public void one() {}
  }

  static class OwnCallWithBranches {
    public void all(long id, boolean negative) {
      for (long i = 0; i < id; i++) {
        switch ((int) i) {
          case 1 -> one(negative ? -i : i, new long[] {i, id}[0], i > 3 ? "a" : "b" + id);
          default -> Math.abs(i);
        }
      }
    }

    @Locked(key = "#id")
    public void one(long id, double other, String text) {}
  }

  static class CallsAnother {
    private CallsAnother proxied = this;

    public void all(CallsAnother given) {
      given.one(1);
      proxied.one(proxied.hashCode());
      (given == null ? proxied : given).one(3);
    }

    @Locked(key = "#id")
    public void one(long id) {}
  }

  static class Base {
    @Locked(key = "'x'")
    public void work() {}
  }

  static class CallsSuper extends Base {
    @Override
    public void work() {
      super.work();
    }
  }

  static class SkippedValue {
    @Locked(key = "'x'", onBusy = OnBusy.SKIP)
    public String work() {
      return "";
    }
  }

  static class SkippedNumber {
    @Locked(key = "'x'", onBusy = OnBusy.SKIP)
    public int work() {
      return 0;
    }
  }

  static class SkippedStage {
    @Locked(key = "'x'", onBusy = OnBusy.SKIP)
    public CompletableFuture<String> work() {
      return new CompletableFuture<>();
    }
  }

  static class NoCallback {
    @Locked(key = "'x'", onBusy = OnBusy.CALLBACK)
    public void work() {}
  }

  static class CallbackOfAnotherType {
    @Locked(key = "'x'", onBusy = OnBusy.CALLBACK, callback = "busy")
    public String work() {
      return "";
    }

    Object busy() {
      return "";
    }
  }

  static class CallbackThatThrows {
    @Locked(key = "'x'", onBusy = OnBusy.CALLBACK, callback = "busy")
    public void work() {}

    void busy() throws Exception {}
  }

  static class CallbackInVain {
    @Locked(key = "'x'", callback = "busy")
    public void work() {}

    void busy() {}
  }

  static class UnknownParameter {
    @Locked(key = "'x' + #idd")
    public void work(long id) {}
  }

  static class Unquoted {
    @Locked(key = "nightly")
    public void work() {}
  }

  static class Malformed {
    @Locked(key = "'x")
    public void work() {}
  }

  static class NoKey {
    @Locked(key = {})
    public void work() {}
  }

  static class NoDuration {
    @Locked(key = "'x'", ttl = "soon")
    public void work() {}
  }

  static class NoTtl {
    @Locked(key = "'x'", ttl = "0s")
    public void work() {}
  }

  static class NegativeWait {
    @Locked(key = "'x'", maxWait = "-1s")
    public void work() {}
  }

  static class PlainFuture {
    @Locked(key = "'x'")
    public Future<String> work() {
      return new CompletableFuture<>();
    }
  }

  static class LazyStream {
    @Locked(key = "'x'")
    public Stream<String> work() {
      return Stream.empty();
    }
  }

  static class Later {
    @Locked(key = "'x'")
    public Supplier<String> work() {
      return () -> "";
    }
  }

  static class TokenOfAnotherType {
    @Locked(key = "'x'")
    public void work(@FencingToken String token) {}
  }

  static class LeaseOfWhichLock {
    @Locked(key = "'x'")
    @Locked(key = "'y'")
    public void work(Lease lease) {}
  }

  static class Configured {
    @Locked(key = "'${billing.name}'", ttl = "${billing.ttl}")
    public String work(Lease lease) {
      return lease.resources().get(0);
    }
  }

  static class Posting {
    @Locked(key = "'x'")
    @Transactional
    public void post() {}
  }

  /** Surrounds beans with transactions by their names, after everything else. */
  @Configuration(proxyBeanMethods = false)
  static class Transactions {
    @Bean
    static BeanNameAutoProxyCreator byName() {
      BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
      creator.setBeanNames("*osting");
      creator.setInterceptorNames("transactionInterceptor");
      creator.setProxyTargetClass(true);
      return creator;
    }
  }

  interface Remote {
    @Locked(key = "'x'")
    void call();
  }

  @Configuration(proxyBeanMethods = false)
  static class Made {
    @Bean
    Remote remote() {
      return (Remote)
          Proxy.newProxyInstance(
              Remote.class.getClassLoader(),
              new Class<?>[] {Remote.class},
              (proxy, method, arguments) -> null);
    }
  }

  interface Visible {
    void seen();
  }

  static class Hidden implements Visible {
    @Override
    public void seen() {}

    @Locked(key = "'x'")
    public void hidden() {}
  }
}
